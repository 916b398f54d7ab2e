// grpc.health.v1 with the reference client: single checks, watches, and that leaving watchers leave nothing behind.

import { getEventListeners } from "node:events";
import { type ClientReadableStream, status as grpcStatus, type ServiceError } from "@grpc/grpc-js";
import { test as base, expect } from "vitest";
import { Health, type HealthCheckResponse, HealthCheckResponse_ServingStatus } from "#gen/grpc/health/v1/health_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { createHealthService } from "../../src/api/health-service.ts";
import type { Clock } from "../../src/platform/base/clock.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { startRpcServer } from "./rpc-server.ts";

const test = base.extend("health", () => startHealth());

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus;
const services = [SessionService, RunService];
const lookMs = 200;

test.each([
  ["", null, SERVING],
  ["", "the lease is lost", NOT_SERVING],
  [RunService.typeName, null, SERVING],
  [RunService.typeName, "the lease is lost", NOT_SERVING],
])("a check of %j while the replica's reason is %j answers %d", async (service, reason, expected) => {
  const { client, replica } = await startHealth();
  replica.reason = reason;
  expect((await client.call(Health.method.check, { service })).status).toBe(expected);
});

test("a check of an unknown service is NOT_FOUND and names the known ones", async ({ health: { client } }) => {
  await expect(client.call(Health.method.check, { service: "runnel.v1.NoService" })).rejects.toMatchObject({
    code: grpcStatus.NOT_FOUND,
    details: expect.stringContaining(RunService.typeName),
  });
});

test("a list contains the replica and every service", async ({ health: { client } }) => {
  const { statuses } = await client.call(Health.method.list, {});
  const found = Object.fromEntries(Object.entries(statuses).map(([name, { status }]) => [name, status]));
  expect(found).toEqual({ "": SERVING, [SessionService.typeName]: SERVING, [RunService.typeName]: SERVING });
});

test("a watcher gets the state at once, then each change and nothing in between", async () => {
  const { client, replica, clock } = await startHealth();
  const watcher = watch(client, "");
  await clock.slept(1);
  await look(clock, 2);
  replica.reason = "the lease is lost";
  await look(clock, 3);
  await look(clock, 4);
  replica.reason = null;
  await look(clock, 5);
  await until("the last change", () => watcher.statuses.length >= 3);
  expect(watcher.statuses).toEqual([SERVING, NOT_SERVING, SERVING]);
  expect(watcher.end()).toBeUndefined();
});

test("a watcher of an unknown service gets SERVICE_UNKNOWN and stays", async () => {
  const { client, replica, clock } = await startHealth();
  const watcher = watch(client, "runnel.v1.NoService");
  await clock.slept(1);
  replica.reason = "the lease is lost";
  await look(clock, 2);
  await until("the answer", () => watcher.statuses.length > 0);
  expect(watcher.statuses).toEqual([SERVICE_UNKNOWN]);
  expect(watcher.end()).toBeUndefined();
});

test("a drain sends NOT_SERVING to every watcher, then ends it with UNAVAILABLE", async () => {
  const { client, drain, clock } = await startHealth();
  const watchers = [watch(client, ""), watch(client, RunService.typeName), watch(client, "runnel.v1.NoService")];
  await clock.slept(watchers.length);
  drain.abort();
  await until("the ends", () => watchers.every(({ end }) => end() !== undefined));
  expect(watchers.map(({ statuses }) => statuses)).toEqual([
    [SERVING, NOT_SERVING],
    [SERVING, NOT_SERVING],
    [SERVICE_UNKNOWN],
  ]);
  for (const { end } of watchers) {
    expect(end()).toMatchObject({ code: grpcStatus.UNAVAILABLE, details: expect.stringContaining("watch again") });
  }
});

test("a watcher that comes during the drain gets NOT_SERVING and is ended", async ({ health: { client, drain } }) => {
  drain.abort();
  const watcher = watch(client, "");
  await until("the end", () => watcher.end());
  expect(watcher.statuses).toEqual([NOT_SERVING]);
  expect(watcher.end()?.code).toBe(grpcStatus.UNAVAILABLE);
  expect((await client.call(Health.method.check, {})).status).toBe(NOT_SERVING);
});

test("watchers that leave free everything", async ({ health: { client, drain, clock, sleeping } }) => {
  const watchers = Array.from({ length: 20 }, () => watch(client, ""));
  await clock.slept(watchers.length);
  expect(sleeping()).toBe(watchers.length);
  expect(getEventListeners(drain.signal, "abort")).toHaveLength(watchers.length);
  for (const { call } of watchers) {
    call.cancel();
  }
  await until("nothing left", () => sleeping() === 0 && getEventListeners(drain.signal, "abort").length === 0);
});

interface HealthStage {
  readonly client: GrpcClient;
  readonly clock: ManualClock;
  readonly drain: AbortController;
  /** The reason why the replica is not ready; null when it is. */
  readonly replica: { reason: string | null };
  /** Returns the number of watchers that wait for their next check. */
  readonly sleeping: () => number;
}

async function startHealth(): Promise<HealthStage> {
  const replica: HealthStage["replica"] = { reason: null };
  const drain = new AbortController();
  const manual = createManualClock();
  let sleeping = 0;
  const clock: Clock = {
    ...manual,
    sleep: async (delayMs, signal) => {
      sleeping += 1;
      await manual.sleep(delayMs, signal);
      sleeping -= 1;
    },
  };
  const health = createHealthService({ whyNotReady: () => replica.reason, clock, drain: drain.signal, services });
  const { target } = await startRpcServer((router) => router.service(Health, health));
  return { client: new GrpcClient(target), clock: manual, drain, replica, sleeping: () => sleeping };
}

/** Lets the one watcher check again; resolves when it waits for its `nth` check. */
async function look(clock: ManualClock, nth: number): Promise<void> {
  clock.advance(lookMs);
  await clock.slept(nth);
}

interface Watcher {
  readonly call: ClientReadableStream<HealthCheckResponse>;
  readonly statuses: HealthCheckResponse_ServingStatus[];
  readonly end: () => ServiceError | undefined;
}

function watch(client: GrpcClient, service: string): Watcher {
  const call = client.stream(Health.method.watch, { service });
  const statuses: HealthCheckResponse_ServingStatus[] = [];
  let end: ServiceError | undefined;
  call.on("data", ({ status }: HealthCheckResponse) => statuses.push(status));
  call.on("error", (error: ServiceError) => {
    end = error;
  });
  return { call, statuses, end: () => end };
}
