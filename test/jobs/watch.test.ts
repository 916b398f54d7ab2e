// WatchJob: the current state of a job, each change of it, and the end of the stream, over gRPC, Connect and SSE alike.

import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect } from "vitest";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { type Job, Job_State, JobExecution_State } from "#gen/runnel/job/v1/job_pb.js";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import type { TestService } from "../harness/service.ts";
import { readSse } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { specOf, test } from "./stage.ts";

/** Passes each state that a watcher sees, such as `running: completed running`, and returns how the stream ended. */
type Follow = (service: TestService, id: unknown, see: (job: string) => void, client?: string) => Promise<string>;

const overGrpc: Follow = async ({ target }, id, see, client) => {
  const grpc = new GrpcClient(target, credentialsOf(client));
  try {
    for await (const { event } of grpc.stream(JobService.method.watchJob, { id: String(id) })) {
      if (event.case === "job") {
        see(describeJob(event.value));
      }
    }
    return "OK";
  } catch (error) {
    const failure = error as ServiceError;
    return `${status[failure.code]} ${reasonOf(failure)}`;
  }
};

const overConnect: Follow = async ({ url }, id, see, client) => {
  const watcher = createClient(JobService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  try {
    for await (const { event } of watcher.watchJob({ id: String(id) }, { headers: credentialsOf(client) })) {
      if (event.case === "job") {
        see(describeJob(event.value));
      }
    }
    return "OK";
  } catch (error) {
    const failure = ConnectError.from(error);
    return `${status[failure.code]} ${failure.findDetails(ErrorInfoSchema)[0]?.reason}`;
  }
};

const overSse: Follow = async ({ url }, id, see, client) => {
  let end = "broken off";
  try {
    for await (const { event, data } of readSse(`${url}/api/v1/jobs/${id}:watch`, {}, credentialsOf(client))) {
      if (event === "job") {
        const { job } = JSON.parse(data) as { job: Shown };
        see(describeState(job.status, job.executions));
      } else {
        end = `event ${event} ${data}`;
      }
    }
    return end;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

interface Shown {
  readonly status: string;
  readonly executions: readonly { readonly status: string }[];
}

function describeJob({ status: state, executions }: Job): string {
  const shown = executions.map((each) => ({ status: JobExecution_State[each.status].toLowerCase() }));
  return describeState(Job_State[state].toLowerCase(), shown);
}

/** Regions are sorted by their states, because their order of completion is random. */
function describeState(state: string, executions: Shown["executions"]): string {
  const states = executions.map((each) => each.status).toSorted();
  return `${state}: ${states.join(" ")}`;
}

describe.each([
  {
    surface: "gRPC",
    follow: overGrpc,
    ends: { well: "OK", unknown: "NOT_FOUND JOB_NOT_FOUND", drained: "UNAVAILABLE RESUME" },
  },
  {
    surface: "Connect",
    follow: overConnect,
    ends: { well: "OK", unknown: "NOT_FOUND JOB_NOT_FOUND", drained: "UNAVAILABLE RESUME" },
  },
  {
    surface: "SSE",
    follow: overSse,
    ends: {
      well: "event end {}",
      unknown: '404: {"error":"job not found","error_code":"job_not_found"}\n',
      drained: /^event error .*"error_code":"resume"/,
    },
  },
])("a watcher over $surface", ({ follow, ends }) => {
  test("sees the current job, each change and the end", async ({ api, service, signer, provider }) => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    provider.respond(
      ...gates.map(({ promise }) => async (...wire: Parameters<ReturnType<typeof answer>>) => {
        await promise;
        await answer("said")(...wire);
      }),
    );
    const { body } = await api.submit(signer.signV1(specOf({ questions: ["Who?"] })));
    await Promise.all([provider.request(0), provider.request(1)]);

    const seen: string[] = [];
    const end = follow(service, body.id, (job) => seen.push(job));
    await until("the job as it stands", () => seen.length === 1);
    gates[0].resolve();
    await until("the first region's end", () => seen.length === 2);
    gates[1].resolve();
    expect(await end).toBe(ends.well);
    expect(seen).toEqual(["running: running running", "running: completed running", "completed: completed completed"]);

    const late: string[] = [];
    expect(await follow(service, body.id, (job) => late.push(job))).toBe(ends.well);
    expect(late).toEqual(["completed: completed completed"]);
  });

  test("of an unknown job or another client's job gets NOT_FOUND", async ({ api, service, signer }) => {
    const { body } = await api.submit(signer.signV1(specOf()));
    const seen: string[] = [];
    const see = (job: string) => seen.push(job);
    expect(await follow(service, "00000000-0000-7000-8000-000000000000", see)).toBe(ends.unknown);
    expect(await follow(service, body.id, see, "stranger")).toBe(ends.unknown);
    expect(seen).toEqual([]);
    await api.end(body.id);
  });

  test("gets RESUME when the service stops", async ({ api, service, signer, provider }) => {
    provider.respond((wire) => wire.hang());
    const { body } = await api.submit(signer.signV1(specOf({ constraints: { regions: ["US"] } })));
    await provider.request(0);
    const seen: string[] = [];
    const end = follow(service, body.id, (job) => seen.push(job));
    await until("the job as it stands", () => seen.length === 1);
    await service.close();
    expect(await end).toMatch(ends.drained);
    expect(seen).toEqual(["running: running"]);
  });
});
