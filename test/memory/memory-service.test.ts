// MemoryService: entries with versions, their limits, searches, and that each client sees its own memories alone.

import { describe, expect } from "vitest";
import { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { test as base } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";

const { getMemory, listMemory, searchMemory, writeMemory, deleteMemory } = MemoryService.method;
const { createSession, deleteSession, purgeSession } = SessionService.method;

const test = base.extend("stage", () => openStage());

async function openStage() {
  const service = await startService({ defaultModel: "demo" });
  const client = new GrpcClient(service.target);
  const refused = async (call: Promise<unknown>) =>
    await call.then(
      () => "taken",
      (error) => reasonOf(error),
    );
  const rest = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { ...credentialsOf(), "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as object };
  };
  return { service, client, stranger: new GrpcClient(service.target, credentialsOf("stranger")), refused, rest };
}

let names = 0;
/** A memory that no other test uses. */
const fresh = () => ({ agent: `agent-${process.pid}-${++names}` });

describe("an entry", () => {
  test("is written, read, replaced and deleted, and its version grows", async ({ stage: { client, refused } }) => {
    const memory = fresh();
    const { entry: first } = await client.call(writeMemory, { ...memory, key: "user/name", value: ' "Ada" ' });
    expect(first).toMatchObject({ key: "user/name", sizeBytes: 5, value: "" });
    const { entry: read } = await client.call(getMemory, { ...memory, key: "user/name" });
    expect(read).toEqual({ ...first, value: '"Ada"' });
    const { entry: second } = await client.call(writeMemory, { ...memory, key: "user/name", value: '{"first":"Ada"}' });
    expect(second?.version).toBeGreaterThan(first?.version ?? 0n);
    await client.call(deleteMemory, { ...memory, key: "user/name" });
    expect(await refused(client.call(getMemory, { ...memory, key: "user/name" }))).toBe("MEMORY_NOT_FOUND");
    expect(await refused(client.call(deleteMemory, { ...memory, key: "user/name" }))).toBe("MEMORY_NOT_FOUND");
    const { entry: third } = await client.call(writeMemory, { ...memory, key: "user/name", value: "null" });
    expect(third?.version).toBeGreaterThan(second?.version ?? 0n);
  });

  test("is written only at the version that the call expects", async ({ stage: { client, refused } }) => {
    const memory = { ...fresh(), key: "plan" };
    const { entry } = await client.call(writeMemory, { ...memory, value: "1", ifVersion: 0n });
    expect(await refused(client.call(writeMemory, { ...memory, value: "2", ifVersion: 0n }))).toBe("MEMORY_CHANGED");
    const wrong = (entry?.version ?? 0n) + 1n;
    expect(await refused(client.call(deleteMemory, { ...memory, ifVersion: wrong }))).toBe("MEMORY_CHANGED");
    const others = await Promise.all(
      [1, 2, 3, 4, 5].map((value) =>
        refused(client.call(writeMemory, { ...memory, value: `${value}`, ifVersion: entry?.version ?? 0n })),
      ),
    );
    expect(others.filter((reason) => reason === "MEMORY_CHANGED")).toHaveLength(4);
  });

  test.for([
    ["", "1", "INVALID_ARGUMENT"],
    ["a\tb", "1", "INVALID_ARGUMENT"],
    ["x".repeat(256), "1", "INVALID_ARGUMENT"],
    ["k", "", "INVALID_ARGUMENT"],
    ["k", "{", "INVALID_ARGUMENT"],
    ["k", '"\\u0000"', "INVALID_ARGUMENT"],
    ["k", `"${"x".repeat(65_535)}"`, "PAYLOAD_TOO_LARGE"],
  ] as const)("with an invalid key or value changes nothing (%#)", async ([key, value, reason], { stage }) => {
    const memory = fresh();
    expect(await stage.refused(stage.client.call(writeMemory, { ...memory, key, value }))).toBe(reason);
    expect(await stage.client.call(listMemory, memory)).toMatchObject({ entries: [] });
  });
});

test("REST has the same entries", async ({ stage: { rest } }) => {
  const { agent } = fresh();
  const path = `/v1/memory/notes%2Fday%201?agent=${agent}`;
  const written = await rest("PUT", `/v1/memory/notes%2Fday%201`, { agent, value: { mood: "good" } });
  expect(written).toMatchObject({ status: 200, body: { key: "notes/day 1" } });
  expect(await rest("GET", path)).toMatchObject({ status: 200, body: { value: { mood: "good" } } });
  expect(await rest("GET", `/v1/memory?agent=${agent}&key_prefix=notes`)).toMatchObject({
    body: { entries: [{ key: "notes/day 1" }] },
  });
  expect(await rest("GET", `/v1/memory:search?agent=${agent}&query=GOOD`)).toMatchObject({
    body: { matches: [{ entry: { key: "notes/day 1" }, excerpt: '{"mood":"good"}' }] },
  });
  expect(await rest("PUT", "/v1/memory/k", { agent, session_id: "s", value: 1 })).toMatchObject({
    status: 400,
    body: { reason: "INVALID_ARGUMENT" },
  });
  expect(await rest("DELETE", `${path}&if_version=1`)).toMatchObject({
    status: 409,
    body: { reason: "MEMORY_CHANGED" },
  });
  expect(await rest("DELETE", path)).toMatchObject({ status: 200 });
  expect(await rest("GET", path)).toMatchObject({ status: 404 });
});

test("a list has all entries once, in pages", async ({ stage: { client, refused } }) => {
  const memory = fresh();
  const keys = ["B", "a", "a/1", "a/2", "é", "日記"];
  for (const key of keys) {
    await client.call(writeMemory, { ...memory, key, value: "1" });
  }
  const listed: string[] = [];
  let pageToken = "";
  do {
    const page = await client.call(listMemory, { ...memory, pageSize: 4, pageToken });
    listed.push(...page.entries.map(({ key }) => key));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(listed).toEqual(keys);
  const { entries, nextPageToken } = await client.call(listMemory, { ...memory, keyPrefix: "a", pageSize: 1 });
  expect(entries.map(({ key }) => key)).toEqual(["a"]);
  const other = client.call(listMemory, { ...memory, pageSize: 1, pageToken: nextPageToken });
  expect(await refused(other)).toBe("CURSOR_INVALID");
});

test("a search finds entries that have all words, the newest first", async ({ stage: { client, refused } }) => {
  const memory = fresh();
  const write = (key: string, value: unknown) =>
    client.call(writeMemory, { ...memory, key, value: JSON.stringify(value) });
  await write("pets", `${"Long before. ".repeat(30)}The cat is called "Mia". ${"And after. ".repeat(40)}`);
  await write("cats/food", "Fish.\nNever milk.");
  await write("旅行", "来月は東京へ行く");
  const found = async (words: string) =>
    (await client.call(searchMemory, { ...memory, query: words })).matches.map(({ entry }) => entry?.key);
  expect(await found("CAT")).toEqual(["cats/food", "pets"]);
  expect(await found("cat milk")).toEqual(["cats/food"]);
  expect(await found('"mia"')).toEqual(["pets"]);
  expect(await found("東京")).toEqual(["旅行"]);
  expect(await found("dog")).toEqual([]);
  expect(await found("100%_")).toEqual([]);
  const { matches } = await client.call(searchMemory, { ...memory, query: "mia", limit: 1 });
  expect(matches[0]?.excerpt).toMatch(/^….*called "Mia"\..*…$/s);
  expect(matches[0]?.excerpt.length).toBeLessThan(310);
  for (const query of ["", "  ", "a b c d e f g h i", "x".repeat(257)]) {
    expect(await refused(client.call(searchMemory, { ...memory, query }))).toBe("INVALID_ARGUMENT");
  }
});

describe("each client", () => {
  test("has its own memories of sessions, agents and its own", async ({ stage: { client, stranger, refused } }) => {
    const { sessionId } = await client.call(createSession, { agent: { name: "tester" } });
    const { agent } = fresh();
    const mine = `of-local-${process.pid}`;
    for (const memory of [{ sessionId }, { agent }, {}]) {
      await client.call(writeMemory, { ...memory, key: mine, value: '"secret"' });
    }
    for (const call of [
      () => stranger.call(getMemory, { sessionId, key: mine }),
      () => stranger.call(listMemory, { sessionId }),
      () => stranger.call(searchMemory, { sessionId, query: "secret" }),
      () => stranger.call(writeMemory, { sessionId, key: mine, value: "1" }),
      () => stranger.call(deleteMemory, { sessionId, key: mine }),
    ]) {
      expect(await refused(call())).toBe("SESSION_NOT_FOUND");
    }
    for (const memory of [{ agent }, {}]) {
      expect(await refused(stranger.call(getMemory, { ...memory, key: mine }))).toBe("MEMORY_NOT_FOUND");
      expect(await refused(stranger.call(deleteMemory, { ...memory, key: mine }))).toBe("MEMORY_NOT_FOUND");
      expect((await stranger.call(searchMemory, { ...memory, query: "secret" })).matches).toEqual([]);
      await stranger.call(writeMemory, { ...memory, key: mine, value: '"other"' });
      expect((await client.call(getMemory, { ...memory, key: mine })).entry?.value).toBe('"secret"');
    }
    const page = await client.call(listMemory, { agent, pageSize: 1 });
    expect(page.nextPageToken).not.toBe("");
    const taken = stranger.call(listMemory, { agent, pageSize: 1, pageToken: page.nextPageToken });
    expect(await refused(taken)).toBe("CURSOR_INVALID");
  });

  test("loses the memory of a session with the session, and no other", async ({ stage }) => {
    const { client, service, refused } = stage;
    const made = await client.call(createSession, { agent: { name: "tester" } });
    const { sessionId } = made;
    const { agent } = fresh();
    await client.call(writeMemory, { sessionId, key: "k", value: '"of the session"' });
    await client.call(writeMemory, { agent, key: "k", value: '"of the agent"' });
    await client.call(deleteSession, { sessionId });
    expect(await refused(client.call(getMemory, { sessionId, key: "k" }))).toBe("SESSION_NOT_FOUND");
    expect(await refused(client.call(writeMemory, { sessionId, key: "k", value: "1" }))).toBe("SESSION_NOT_FOUND");
    await client.call(purgeSession, { sessionId });
    const rows = await query(service.databaseUrl, "select value from state_value where value like '%of the %'");
    expect(rows).toEqual([{ value: '"of the agent"' }]);
  });
});

describe("a full memory", () => {
  /** Fills the memory of an agent below the service. */
  const fill = async ({ client, service }: Awaited<ReturnType<typeof openStage>>, rows: number, bytes: number) => {
    const { agent } = fresh();
    await client.call(writeMemory, { agent, key: "fill 0", value: "1" });
    await query(
      service.databaseUrl,
      `insert into state_value (owner, key, client, value)
       select owner, 'fill ' || n, client, '"' || repeat('x', ${bytes - 2}) || '"'
       from (select distinct owner, client from state_value where key = 'fill 0' and version = (
         select max(version) from state_value where key = 'fill 0')) as one, generate_series(1, ${rows}) as n`,
    );
    return agent;
  };

  test("takes no more entries, but other values", async ({ stage }) => {
    const { client, refused } = stage;
    const agent = await fill(stage, 999, 10);
    expect(await refused(client.call(writeMemory, { agent, key: "new", value: "1" }))).toBe("MEMORY_FULL");
    await client.call(writeMemory, { agent, key: "fill 7", value: "1" });
    await client.call(deleteMemory, { agent, key: "fill 8" });
    await client.call(writeMemory, { agent, key: "new", value: "1" });
  });

  test("takes no more bytes, but shorter values", async ({ stage }) => {
    const { client, refused } = stage;
    const agent = await fill(stage, 32, 65_536);
    expect(await refused(client.call(writeMemory, { agent, key: "new", value: "1" }))).toBe("MEMORY_FULL");
    await client.call(writeMemory, { agent, key: "fill 7", value: "1" });
    await client.call(writeMemory, { agent, key: "new", value: "1" });
    expect((await client.call(searchMemory, { agent, query: "yyy zzz" })).matches).toEqual([]);
  });
});
