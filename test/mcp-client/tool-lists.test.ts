// Lists of tools that a server lets its clients keep: the next run of the same client with the same credentials asks for no other.

import { expect, test } from "vitest";
import { openModernByHand } from "./modern-by-hand.ts";
import { openHost, openRun } from "./stage.ts";

const hi = { resultType: "complete", content: [{ type: "text", text: "hi" }] };

test("a list is kept for the time that its server names, and a call connects all the same", async () => {
  const server = await openModernByHand(["say", "1,000"], { "tools/call": () => hi }, { ttlMs: 500 });
  const host = openHost();
  const lists = () => server.requests.filter(({ rpc }) => rpc === "tools/list").length;
  const first = await openRun([{ url: server.url }], { host });
  const asked = server.requests.length;
  const second = await openRun([{ url: server.url }], { host });
  expect(second.kept).toEqual(first.kept);
  expect(server.requests.length).toBe(asked);
  expect(await second.call("srv_say")).toEqual({ content: "hi" });
  expect(lists()).toBe(1);
  await expect
    .poll(async () => {
      await openRun([{ url: server.url }], { host });
      return lists();
    })
    .toBe(2);
});

test.each([
  ["another client", { client: "key:other" }, {}],
  ["other credentials", {}, { headers: [{ name: "authorization", value: "Bearer another-token" }] }],
  ["another choice of tools", {}, { allowedTools: ["say"] }],
  ["a server that may ask for forms", {}, { forms: true }],
])("%s has a list of its own", async (_, options, fields) => {
  const server = await openModernByHand(["say"], {}, { ttlMs: 60_000, cacheScope: "public" });
  const host = openHost();
  await openRun([{ url: server.url }], { host });
  await openRun([{ url: server.url, ...fields }], { host, ...options });
  expect(server.requests.filter(({ rpc }) => rpc === "tools/list")).toHaveLength(2);
});

test("a list is asked for again when its server names no time", async () => {
  const server = await openModernByHand(["say"], {}, { ttlMs: 0 });
  const host = openHost();
  await openRun([{ url: server.url }], { host });
  await openRun([{ url: server.url }], { host });
  expect(server.requests.filter(({ rpc }) => rpc === "tools/list")).toHaveLength(2);
});

test("a call that the server refuses makes the next run list anew, and this run keeps its list", async () => {
  const refusal = { code: -32602, message: "unknown tool" };
  const server = await openModernByHand(["say"], { "tools/call": () => refusal }, { ttlMs: 60_000 });
  const host = openHost();
  const run = await openRun([{ url: server.url }], { host });
  expect(await run.call("srv_say")).toEqual({ error: "the server answered with the error -32602: unknown tool" });
  expect(run.tools.map(({ name }) => name)).toEqual(["srv_say"]);
  await openRun([{ url: server.url }], { host });
  // This run compares its list with the new one, too.
  await expect.poll(() => server.requests.filter(({ rpc }) => rpc === "tools/list").length).toBe(3);
});
