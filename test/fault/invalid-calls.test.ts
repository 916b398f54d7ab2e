// kill -9 among the calls of a model that does not read errors: the next process knows what the run has seen.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools, type Script } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

/** Kills the first process at this place, and returns the whole log. */
async function followOver(place: string, scripts: readonly Script[]): Promise<{ reader: LogReader; requests: number }> {
  const { provider, environment } = await openProvider();
  provider.respond(...scripts, answer("never"));
  const cluster = await openCluster(environment);
  const first = await cluster.start({ RUNNEL_FAILPOINT: place });
  const agent = { name: "fault", tools: { builtin: ["list_dir"] } };
  const { sessionId } = await first.client.call(SessionService.method.createSession, { agent });
  const { runId } = await first.client.call(SessionService.method.sendMessage, { sessionId, message: "go" });
  await until("the kill", () => !isAlive(first));
  const second = await cluster.start();
  const reader = new LogReader(runId);
  expect(await reader.follow(second.client)).toBe(status.OK);
  await expectInvariants(cluster.databaseUrl);
  return { reader, requests: provider.requests.length };
}

test("invalid calls before the kill count", async () => {
  const zap = callTools({ id: "c1", name: "zap", arguments: "{}" });
  const { reader, requests } = await followOver("answers.committed", [zap, zap, zap]);
  expect(reader.results.at(-1)?.payload).toMatchObject({ case: "runFailed", value: { code: "runner.invalid_calls" } });
  expect(requests).toBe(3);
});

test.each(["calls.committed", "answers.committed"])(
  "a call that the token limit has cut does not run after a kill at %s, and the second cut ends the run",
  async (place) => {
    const cut: Script = (wire) => {
      wire.toolCalls({ index: 0, id: "c1", name: "list_dir", arguments: "{}" });
      wire.finish("length");
    };
    const { reader, requests } = await followOver(place, [cut, cut]);
    const outcomes = reader.results.flatMap(({ payload }) =>
      payload.case === "toolCallCompleted" ? [payload.value.error] : [],
    );
    expect(outcomes).toEqual([expect.stringContaining("before this call was complete")]);
    expect(reader.results.at(-1)?.payload).toMatchObject({ case: "runCompleted", value: { finishReason: "length" } });
    expect(requests).toBe(2);
  },
);
