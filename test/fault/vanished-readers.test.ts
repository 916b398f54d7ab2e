// Readers whose machine or network is gone: their connections stay open, and nothing arrives from them. Here a wire falls
// silent. The probes of the operating system cannot be tested this way on one machine (port-limits.test.ts).

import { connect } from "node:net";
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { onePortLimits } from "../../src/surfaces/http/one-port.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { openWire } from "../harness/wire.ts";
import { startRun } from "./cluster.ts";
import { LogReader } from "./log-reader.ts";

const vanishing = 20;

/** Speeds up the port's checks of a second each: the 28 s for a PING become 1.4 s. port-sessions.test.ts counts the checks. */
const quickChecks: Clock = {
  ...systemClock,
  sleep: (delayMs, signal) => systemClock.sleep(delayMs === onePortLimits.checkIntervalMs ? 50 : delayMs, signal),
};

test("gRPC readers that vanish are released, and one that stays gets everything", async () => {
  const service = await startService({}, { clock: quickChecks });
  const { hostname, port } = new URL(service.url);
  const wire = await openWire({ connectFar: () => connect(Number(port), hostname) });
  const client = new GrpcClient(service.target);
  const { runId } = await startRun(client, "words=1000 pace=50");
  const staying = new LogReader(runId);
  const following = staying.follow(client);
  const away = new GrpcClient(`${wire.host}:${wire.port}`);
  for (let count = 0; count < vanishing; count++) {
    const stream = away.stream(RunService.method.tailRun, { runId });
    stream.on("error", () => {}).resume();
  }
  await until("all readers", () => service.app.countReaders() === vanishing + 1);
  for (const link of wire.links) {
    link.silence();
  }
  await until("the vanished to be let go", () => service.app.countReaders() === 1);
  const reached = staying.results.length;
  await until("the other one to be told more", () => staying.results.length > reached);
  await client.call(RunService.method.cancelRun, { runId });
  expect(await following).toBe(status.OK);
});
