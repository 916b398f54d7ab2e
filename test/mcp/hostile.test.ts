// Bodies and headers that no client sends: each gets an answer of the protocol, and none an internal error.

import { expect, test } from "vitest";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { oddValues } from "../harness/odd-values.ts";
import { LegacyClient, send, setMcpStage, tasks, version } from "./stage.ts";

const odd: readonly unknown[] = [...oddValues, { type: "object" }];

const capabilities = { elicitation: {}, ...tasks };

const places: readonly (readonly [method: string, params: (value: unknown) => object])[] = [
  ["tools/call", (value) => ({ name: value, arguments: { message: "x" } })],
  ["tools/call", (value) => ({ name: "default", arguments: value })],
  ["tools/call", (value) => ({ name: "default", arguments: { message: value } })],
  ["tools/call", (value) => ({ name: "default", arguments: { message: "x", session_id: value } })],
  ["tools/call", (value) => ({ name: "default", requestState: value, inputResponses: value })],
  ["tools/list", (value) => ({ cursor: value })],
  ["resources/list", (value) => ({ cursor: value })],
  ["resources/read", (value) => ({ uri: value })],
  ["tasks/get", (value) => ({ taskId: value })],
  ["tasks/update", (value) => ({ taskId: crypto.randomUUID(), inputResponses: value })],
  ["tasks/cancel", (value) => ({ taskId: value })],
  ["server/discover", (value) => ({ _meta: value })],
  ["tools/list", (value) => ({ _meta: { "io.modelcontextprotocol/protocolVersion": value } })],
  [
    "subscriptions/listen",
    (value) => ({ notifications: value === null || typeof value !== "object" ? value : [value] }),
  ],
];

test("no request gives an internal error", { timeout: 120_000 }, async () => {
  const { service, provider } = await setMcpStage({ rateLimitRps: 10_000, rateLimitBurst: 10_000 });
  provider.respond(...Array.from({ length: 40 }, () => answer("ok")));
  let count = 0;
  for (const [method, paramsOf] of places) {
    for (const value of odd) {
      const params = paramsOf(value);
      const leaving = new AbortController();
      const named = Object.values(params).find((each) => typeof each === "string") ?? "";
      const name = /^[!-~]+$/.test(named) ? named : `=?base64?${Buffer.from(named).toString("base64")}?=`;
      const headers = { "mcp-name": name };
      const response = await send(service.url, method, params, { capabilities, headers, signal: leaving.signal });
      expect([response.status < 500, method, JSON.stringify(value)]).toEqual([true, method, JSON.stringify(value)]);
      if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
        expect(await response.json()).toMatchObject({ jsonrpc: "2.0" });
      }
      leaving.abort();
      count += 1;
    }
  }
  const client = new LegacyClient(service.url);
  await client.open();
  const bodies = [
    "",
    "[]",
    "null",
    "{",
    '{"jsonrpc":"1.0"}',
    '{"jsonrpc":"2.0"}',
    "[".repeat(500),
    '{"jsonrpc":"2.0","id":{},"method":"x"}',
  ];
  for (const sessionId of [client.session, "", "x".repeat(5_000), `${client.session}x`]) {
    for (const body of bodies) {
      const headers = { "content-type": "application/json", "mcp-session-id": sessionId, ...credentialsOf() };
      const response = await fetch(`${service.url}/mcp`, { method: "POST", headers, body });
      const text = await response.text();
      expect([response.status >= 400 && response.status < 500, body, text]).toEqual([true, body, text]);
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) } });
      count += 1;
    }
  }
  for (const lastEventId of [
    "",
    "x",
    "1.1",
    `${crypto.randomUUID()}.1`,
    `${crypto.randomUUID()}.99999999999999999999`,
  ]) {
    const response = await client.get(lastEventId);
    expect([lastEventId, response.status < 500]).toEqual([lastEventId, true]);
    await response.body?.cancel();
    count += 1;
  }
  expect(count).toBeGreaterThan(200);
  expect(
    (await send(service.url, "server/discover", {}, { headers: { "mcp-protocol-version": version } })).status,
  ).toBe(200);
});
