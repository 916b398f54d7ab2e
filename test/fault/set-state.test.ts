// kill -9 between the outcome of set_state and its entries in the log: the next process adds the change once, after the result.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { expectFolds } from "../ag-ui/verify-folds.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

test.each(["tool.ended", "outcome.committed", "answers.written", "answers.committed"])(
  "a kill at %s",
  async (place) => {
    const { provider, environment } = await openProvider();
    const call = { id: "c1", name: "set_state", arguments: '{"key": "city", "value": "Rome"}' };
    provider.respond(callTools(call), answer("done"), answer("done"));
    const cluster = await openCluster(environment);
    const first = await cluster.start({ RUNNEL_FAILPOINT: place });
    const agent = { name: "fault", tools: { builtin: ["set_state"] } };
    const { sessionId } = await first.client.call(SessionService.method.createSession, { agent });
    const { runId } = await first.client.call(SessionService.method.sendMessage, { sessionId, message: "go" });
    await until("the kill", () => !isAlive(first));
    const second = await cluster.start();
    const reader = new LogReader(runId);
    expect(await reader.follow(second.client)).toBe(status.OK);
    const cases = reader.results.map(({ payload }) => payload.case);
    expect(cases.slice(0, 5)).toEqual([
      "turnStarted",
      "messageCompleted",
      "toolCallStarted",
      "toolCallCompleted",
      "stateUpdated",
    ]);
    expect(reader.count("stateUpdated")).toBe(1);
    expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
    await expectFolds(reader.results);
    await expectInvariants(cluster.databaseUrl);
  },
);
