// A2A agents that answer wrongly, endlessly or not at all: the run fails with a reason, shows no secret, and dials nothing private.

import { afterAll, expect, test } from "vitest";
import { openSession, send, short } from "../acp/stage.ts";
import { fail, type Script, startWireServer } from "../fakes/wire-server.ts";
import { readLog } from "../fault/log-reader.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { flagsOf, lineOf, secretKey } from "./stage.ts";

const server = await startWireServer();
const private_ = await startWireServer(() => fail(200, "{}"));
afterAll(() => Promise.all([server.close(), private_.close()]));

function card(fields: object = {}): Script {
  const supportedInterfaces = [{ url: `${server.origin}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
  const whole = {
    ...{ name: "hostile", description: "", version: "1", supportedInterfaces },
    ...{ capabilities: { streaming: true }, defaultInputModes: [], defaultOutputModes: [], skills: [] },
    ...fields,
  };
  return (wire) => wire.reply(200, JSON.stringify(whole));
}

const elsewhere = [{ url: `${private_.origin}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
const older = [{ url: `${server.origin}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "0.3" }];
const events = (...bodies: readonly object[]): Script => {
  return (wire) => {
    for (const result of bodies) {
      wire.frame({ jsonrpc: "2.0", id: 1, result });
    }
  };
};
const task = (fields: object = {}) => ({
  task: { id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" }, ...fields },
});

test.for<readonly [what: string, scripts: readonly Script[], code: string]>([
  ["a card that is no JSON", [fail(200, "<html>")], "runner.unavailable"],
  ["a card that is null", [fail(200, "null")], "runner.unavailable"],
  ["a card of another service", [fail(200, '{"name":1}')], "runner.unavailable"],
  ["a card that wants credentials", [fail(401, `no ${secretKey}`)], "runner.unavailable"],
  ["a card that is a redirect", [(wire) => wire.reply(302, "", { location: private_.origin })], "runner.unavailable"],
  ["a card of 9 MB", [fail(200, `{"name":"${"x".repeat(9_000_000)}"}`)], "runner.unavailable"],
  ["a card that names another origin", [card({ supportedInterfaces: elsewhere })], "runner.error"],
  ["a card without interfaces", [card({ supportedInterfaces: [] })], "runner.unavailable"],
  ["an answer of a proxy", [card(), fail(502, "<html>bad gateway")], "runner.turn_lost"],
  ["an answer that is no JSON", [card(), fail(200, "no")], "runner.turn_lost"],
  ["a refusal", [card(), fail(403, "no")], "runner.error"],
  ["a refusal for its rate", [card(), fail(429, "{}")], "runner.error"],
  ["an address that is gone", [card(), fail(404, "<html>")], "runner.error"],
  [
    "an interface without an origin",
    [card({ supportedInterfaces: [{ ...elsewhere[0], url: "/rpc" }] })],
    "runner.error",
  ],
  ["an older interface", [card({ supportedInterfaces: older }), fail(404, "no")], "runner.error"],
  [
    "an error of the protocol",
    [card(), fail(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}')],
    "runner.error",
  ],
  ["a task without an id", [card(), events({ task: { status: { state: "TASK_STATE_WORKING" } } })], "runner.turn_lost"],
  ["an id of 600 characters", [card(), events(task({ id: "x".repeat(600) }))], "runner.turn_lost"],
  ["an unknown state, and an end", [card(), events(task({ status: { state: "TASK_STATE_FAILED" } }))], "runner.error"],
])("%s", { timeout: 60_000 }, async ([, scripts, code]) => {
  const service = await startService(flagsOf(lineOf("hostile", server.origin)));
  const client = new GrpcClient(service.target);
  server.respond(...scripts);
  const runId = await send(client, await openSession(client, { name: "a2a", runner: "hostile" }), "go");
  const end = short(await readLog(client, runId)).at(-1);
  expect(end?.slice(0, 2)).toEqual(["runFailed", code]);
  expect(JSON.stringify(end)).not.toContain(secretKey);
  expect(private_.requests).toEqual([]);
});
