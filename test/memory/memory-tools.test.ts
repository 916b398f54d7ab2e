// The memory tools, as a run and those of its tree use them: whose memory it is, what a call says, and which agents may use which.

import { describe, expect } from "vitest";
import { MemoryScope } from "#gen/runnel/v1/memory_pb.js";
import { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { ask, boss, callOf, openStage, type Part } from "../child-runs/team.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { test } from "../fixtures.ts";
import { query } from "../harness/database.ts";

const { getMemory, writeMemory, listMemory } = MemoryService.method;
const { sendMessage, purgeSession } = SessionService.method;
const memoryTools = ["memory_read", "memory_write", "memory_search"];

/** Makes one call in each turn, and then says what it has read, without the versions. */
const inTurn =
  (...calls: readonly (readonly [name: string, args: object])[]): Part =>
  (messages, turn) => {
    const call = calls[turn];
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    return call === undefined
      ? answer(results.join(" | ").replaceAll(/version:? \d+/g, "version N"))
      : callTools(callOf(`c${turn}`, ...call));
  };
const agentOf = (name: string, more: object = {}) => ({
  name,
  systemPrompt: name,
  maxTurns: 9,
  tools: { builtin: memoryTools, ...more },
});

describe("an agent", () => {
  test("writes, reads, finds and deletes entries of its session", async () => {
    const { client, ended } = await openStage({
      keeper: inTurn(
        ["memory_read", {}],
        ["memory_write", { key: "user", content: 'likes "tea"\nand cake' }],
        ["memory_read", {}],
        ["memory_read", { key: "user" }],
        ["memory_search", { query: "TEA user" }],
        ["memory_write", { key: "user", content: "" }],
        ["memory_read", { key: "user" }],
      ),
    });
    const { runId, sessionId } = await ask(client, agentOf("keeper"));
    expect((await ended(runId)).output.split(" | ")).toEqual([
      "The memory is empty",
      "Wrote user (version N)",
      "user (25 bytes, version N)",
      'likes "tea"\nand cake\n\n[version N]',
      'user (version N): likes "tea"\nand cake',
      "Deleted user",
      'Error: no entry "user": call memory_read without a key to list all keys',
    ]);
    expect((await client.call(listMemory, { sessionId })).entries).toEqual([]);
  });

  test("keeps an entry for later runs of its session, and reads what its client has written", async () => {
    const { client, ended } = await openStage({
      keeper: (messages, turn, request) =>
        messages.at(-1)?.content === "first" ||
        (turn > 0 &&
          messages.some(({ content }) => content === "first") &&
          !messages.some(({ content }) => content === "second"))
          ? inTurn(["memory_write", { key: "a", content: "one" }])(messages, turn, request)
          : turn === 0
            ? callTools(callOf("d0", "memory_read", { key: "a" }), callOf("d1", "memory_read", { key: "b" }))
            : answer(
                messages
                  .slice(-2)
                  .map(({ content }) => content)
                  .join(" | "),
              ),
    });
    const { runId, sessionId } = await ask(client, agentOf("keeper"), "first");
    await ended(runId);
    expect((await client.call(getMemory, { sessionId, key: "a" })).entry?.value).toBe('"one"');
    await client.call(writeMemory, { sessionId, key: "b", value: '{"two": 2}' });
    const { runId: next } = await client.call(sendMessage, { sessionId, message: "second" });
    expect((await ended(next)).output).toMatch(/^one\n\n\[version: \d+\] \| \{"two": 2\}\n\n\[version: \d+\]$/);
  });

  test("reads why a call changed nothing", async () => {
    const { client, ended } = await openStage({
      keeper: inTurn(
        ["memory_write", { key: "a", content: "one", version: 7 }],
        ["memory_write", { key: "a", content: "one", version: 0 }],
        ["memory_write", { key: "a", content: "two", version: 0 }],
        ["memory_write", { key: "", content: "two" }],
        ["memory_write", { key: "a" }],
        ["memory_write", { key: "a", content: "x".repeat(65_535) }],
        ["memory_write", { key: "a", content: "two", scope: "client" }],
        ["memory_search", { query: "" }],
      ),
    });
    const { runId, sessionId } = await ask(client, agentOf("keeper"));
    expect((await ended(runId)).output.split(" | ")).toEqual([
      "Error: not written: there is no entry a; use version N for a new one",
      "Wrote a (version N)",
      "Error: not written: the entry has version N now; read it again, then write the whole text",
      "Error: invalid key: it must have 1 to 255 characters",
      "Error: content is missing: give the text of the entry, or an empty text to delete it",
      "Error: content too large: 65537 bytes, max 65536; split it, or write a file",
      "Error: invalid scope: use session",
      "Error: invalid query: it must have 1 to 8 words, separated by spaces",
    ]);
    expect((await client.call(getMemory, { sessionId, key: "a" })).entry?.value).toBe('"one"');
  });

  test("shares the memory of its name and of its client when its settings say so", async () => {
    const memoryScopes = [MemoryScope.CLIENT, MemoryScope.AGENT];
    const name = `sharing-${process.pid}`;
    const { client, ended } = await openStage({
      [name]: inTurn(
        ["memory_write", { key: name, content: "of the agent" }],
        ["memory_write", { key: name, content: "of the client", scope: "client" }],
      ),
      reader: inTurn(["memory_read", { key: name }], ["memory_read", { key: name, scope: "agent" }]),
    });
    await ended((await ask(client, agentOf(name, { memoryScopes }))).runId);
    expect((await client.call(getMemory, { agent: name, key: name })).entry?.value).toBe('"of the agent"');
    expect((await client.call(getMemory, { key: name })).entry?.value).toBe('"of the client"');
    const { runId } = await ask(client, agentOf("reader", { memoryScopes: [MemoryScope.CLIENT] }));
    expect((await ended(runId)).output).toBe("of the client\n\n[version N] | Error: invalid scope: use client");
  });

  test("sees in a tool which memories there are", async () => {
    const { client, ended, team } = await openStage({ keeper: () => answer("done") });
    await ended((await ask(client, agentOf("keeper"))).runId);
    await ended(
      (await ask(client, agentOf("keeper", { memoryScopes: [MemoryScope.AGENT, MemoryScope.SESSION] }))).runId,
    );
    const [alone, both] = team.requests.map(({ body }) => {
      const tools = body.tools as { function: { name: string; parameters: { properties: Record<string, unknown> } } }[];
      return tools.find(({ function: { name } }) => name === "memory_read")?.function.parameters.properties;
    });
    expect(alone).not.toHaveProperty("scope");
    expect(both?.scope).toMatchObject({ enum: ["session", "agent"] });
  });
});

describe("a tree", () => {
  const noter = (scopes: readonly MemoryScope[] = []) => ({
    name: "noter",
    agent: { systemPrompt: "noter", maxTurns: 3, tools: { builtin: memoryTools, memoryScopes: scopes } },
  });

  test("has the memory of the session at its top, and loses it with that", async () => {
    const { client, ended, service } = await openStage({
      boss: boss(callOf("c1", "noter", { message: "note" })),
      noter: inTurn(["memory_write", { key: "found", content: "gold" }]),
    });
    const { runId, sessionId } = await ask(client, agentOf("boss", { agents: [noter()] }));
    expect((await ended(runId)).output).toBe("they said: Wrote found (version N)");
    expect((await client.call(getMemory, { sessionId, key: "found" })).entry?.value).toBe('"gold"');
    await client.call(purgeSession, { sessionId });
    expect(await query(service.databaseUrl, "select key from state_value where key = 'found'")).toEqual([]);
  });

  test("gives no agent a memory that its parent does not have", async () => {
    const { client, ended } = await openStage({ boss: boss(callOf("c1", "noter", { message: "note" })) });
    const { runId } = await ask(client, agentOf("boss", { agents: [noter([MemoryScope.CLIENT])] })).catch((error) => ({
      runId: String(error.details),
    }));
    expect(runId).toMatch(/noter has a tool of memory_scopes client: its parent does not have it/);
    const { runId: allowed } = await ask(
      client,
      agentOf("boss", { agents: [noter([MemoryScope.CLIENT])], memoryScopes: [MemoryScope.CLIENT] }),
    );
    expect((await ended(allowed)).state).not.toBe(Run_State.UNSPECIFIED);
  });
});
