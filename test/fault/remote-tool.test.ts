// The process dies while a remote tool runs at its host. Whether the tool did its work is unknown, so the next process calls
// again: with a new signature, and with the same idempotency key, by which the host recognises the call.

import { status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { startCallbackHost } from "../fakes/callback-host.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { keyOf } from "../harness/credentials.ts";
import { openCluster, openProvider, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

test("a remote call that was running at a kill is repeated with the same idempotency key", async () => {
  const host = await startCallbackHost({ secret: keyOf() });
  onTestFinished(() => host[Symbol.asyncDispose]());
  host.answer(() => {}, { success: true, content: "paid" });
  const { provider, environment } = await openProvider();
  provider.respond(callTools({ id: "call_pay", name: "pay", arguments: "{}" }), answer("done"));
  const cluster = await openCluster({
    ...environment,
    RUNNEL_CALLBACK_BASE_URL: host.baseUrl,
    RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32",
  });
  const first = await cluster.start();
  const tools = { remote: [{ name: "pay", description: "Pays.", parameters: "[]" }] };
  const { runId } = await startRun(first.client, "pay", { name: "fault", tools });
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  await host.called(1);
  await first.kill();
  expect(await following).toBe(status.UNAVAILABLE);

  const second = await cluster.startHere();
  expect(await reader.follow(second.client)).toBe(status.OK);
  expect(reader.count("toolCallStarted")).toBe(1);
  expect(
    reader.results.flatMap(({ payload }) => (payload.case === "toolCallCompleted" ? [payload.value] : [])),
  ).toEqual([expect.objectContaining({ toolCallId: "call_pay", result: '{"content":"paid"}' })]);
  expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
  expect(host.refusals).toEqual([]);
  expect(host.calls.map(({ headers }) => headers["idempotency-key"])).toEqual(["call_pay", "call_pay"]);
  expect(new Set(host.calls.map(({ headers }) => headers["x-nonce"])).size).toBe(2);
  await expectInvariants(cluster.databaseUrl);
});
