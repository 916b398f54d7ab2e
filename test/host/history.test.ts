// History and events: only the run's own conversation, in pages that neither miss nor repeat an item.

import { expect } from "vitest";
import type { PageHistoryResponse, TranscriptItem } from "#gen/runnel/host/v1/host_history_service_pb.js";
import { conversationKey } from "../../src/protocols/langbot/runners/scope.ts";
import {
  addEvent,
  addHistory,
  client,
  invalid,
  method,
  notFound,
  openStage,
  type Runner,
  refusalOf,
  test,
  unauthorized,
} from "./stage.ts";

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const seqs = ({ items }: { items: readonly TranscriptItem[] }) => items.map(({ seq }) => Number(seq));

async function addNumbered(stage: Awaited<ReturnType<typeof openStage>>, count: number): Promise<Runner> {
  const runner = await stage.addRunner();
  await addHistory(
    stage.db,
    runner,
    numbers(1, count).map((number) => ({ content: `message ${number}` })),
  );
  return runner;
}

test("a run without a conversation has no history and no events, with any grant", async ({ stage }) => {
  await addNumbered(stage, 1);
  const runner = await stage.addRunner({
    scope: { conversationId: undefined },
    grant: { apis: ["event_get", "state"] },
  });
  expect(await refusalOf(runner.call(method.pageHistory))).toMatchObject(unauthorized);
  expect(await refusalOf(runner.call(method.searchHistory, { query: "a" }))).toMatchObject(unauthorized);
  expect(await refusalOf(runner.call(method.pageEvents))).toMatchObject(unauthorized);
  const careless = await stage.addRunner({ scope: { conversationId: undefined } });
  expect(await refusalOf(careless.call(method.pageHistory))).toMatchObject(unauthorized);
});

test("pages go back from the end, each oldest first, to the beginning", async () => {
  const runner = await addNumbered(await openStage(), 7);
  const last = await runner.call(method.pageHistory, { limit: 3 });
  expect(last).toMatchObject({ hasMore: true, totalCount: 7n });
  expect(seqs(last)).toEqual([5, 6, 7]);
  const middle = await runner.call(method.pageHistory, { limit: 3, beforeCursor: cursor(last) });
  expect(seqs(middle)).toEqual([2, 3, 4]);
  const first = await runner.call(method.pageHistory, { limit: 3, beforeCursor: cursor(middle) });
  expect(seqs(first)).toEqual([1]);
  expect(first.hasMore).toBe(false);
  expect(first.nextCursor).toBeUndefined();
  // The previous cursor of a page leads back to the page after it.
  const back = await runner.call(method.pageHistory, { limit: 10, afterCursor: middle.prevCursor ?? "" });
  expect(seqs(back)).toEqual([5, 6, 7]);
});

test("pages go forward from the beginning, and after_cursor goes forward even with direction backward", async () => {
  const runner = await addNumbered(await openStage(), 5);
  const first = await runner.call(method.pageHistory, { limit: 2, direction: "forward" });
  expect(seqs(first)).toEqual([1, 2]);
  const second = await runner.call(method.pageHistory, {
    limit: 2,
    direction: "backward",
    afterCursor: cursor(first),
  });
  expect(seqs(second)).toEqual([3, 4]);
  const third = await runner.call(method.pageHistory, { limit: 2, afterCursor: cursor(second) });
  expect(seqs(third)).toEqual([5]);
  expect(third.hasMore).toBe(false);
  expect(await refusalOf(runner.call(method.pageHistory, { direction: "sideways" }))).toMatchObject(invalid);
});

test("a page has 50 items by default and at most 100, and a negative limit is invalid", async () => {
  const runner = await addNumbered(await openStage(), 120);
  expect(seqs(await runner.call(method.pageHistory))).toEqual(numbers(71, 120));
  expect(seqs(await runner.call(method.pageHistory, { limit: 10_000 }))).toEqual(numbers(21, 120));
  expect(await refusalOf(runner.call(method.pageHistory, { limit: -1 }))).toMatchObject(invalid);
  expect(await refusalOf(runner.call(method.pageEvents, { limit: -1 }))).toMatchObject(invalid);
});

test("items that are added between two pages are neither missed nor repeated", async ({ stage }) => {
  const runner = await addNumbered(stage, 6);
  const last = await runner.call(method.pageHistory, { limit: 3 });
  await addHistory(stage.db, runner, [{ content: "new" }, { content: "newer" }]);
  const before = await runner.call(method.pageHistory, { limit: 3, beforeCursor: cursor(last) });
  expect([...seqs(before), ...seqs(last)]).toEqual([1, 2, 3, 4, 5, 6]);
  const after = await runner.call(method.pageHistory, { afterCursor: last.prevCursor ?? "" });
  expect(seqs(after)).toEqual([7, 8]);
});

test("a page ends before it is too large for a gRPC message", async ({ stage }) => {
  const runner = await stage.addRunner();
  const content = "a".repeat(600_000);
  await addHistory(stage.db, runner, [{ content }, { content }, { content }, { content }]);
  const last = await runner.call(method.pageHistory);
  expect(seqs(last)).toEqual([3, 4]);
  expect(last.hasMore).toBe(true);
  expect(seqs(await runner.call(method.pageHistory, { beforeCursor: cursor(last) }))).toEqual([1, 2]);
});

test("a cursor is valid only unchanged, for its method, its run and its conversation", async ({ stage }) => {
  const runner = await addNumbered(stage, 3);
  for (const seq of numbers(1, 3)) {
    await addEvent(stage.db, await stage.addRunner(), { seq });
  }
  const good = cursor(await runner.call(method.pageHistory, { limit: 1 }));
  const ofEvents = (await runner.call(method.pageEvents, { limit: 1 })).nextCursor ?? expect.fail("no cursor");
  const sameConversation = await stage.addRunner();
  const elsewhere = await stage.addRunner({ scope: { conversationId: "elsewhere" } });
  const bent = `${good.slice(0, -1)}${good.endsWith("A") ? "B" : "A"}`;
  for (const [who, beforeCursor] of [
    [runner, ofEvents],
    [runner, bent],
    [runner, "2"],
    [runner, `${good}=`],
    [sameConversation, good],
    [elsewhere, good],
  ] as const) {
    expect(await refusalOf(who.call(method.pageHistory, { beforeCursor }))).toMatchObject(invalid);
  }
  expect(await refusalOf(runner.call(method.pageEvents, { beforeCursor: good }))).toMatchObject(invalid);
  expect(seqs(await runner.call(method.pageHistory, { beforeCursor: good }))).toEqual([1, 2]);
});

test("two cursors in one call are invalid", async () => {
  const runner = await addNumbered(await openStage(), 3);
  const beforeCursor = cursor(await runner.call(method.pageHistory, { limit: 1 }));
  const both = { beforeCursor, afterCursor: beforeCursor };
  expect(await refusalOf(runner.call(method.pageHistory, both))).toMatchObject(invalid);
});

test("another conversation id is refused, and another thread, bot or workspace sees nothing", async ({ stage }) => {
  const runner = await addNumbered(stage, 2);
  expect(seqs(await runner.call(method.pageHistory, { conversationId: "conversation" }))).toEqual([1, 2]);
  for (const conversationId of ["another", ""]) {
    expect(await refusalOf(runner.call(method.pageHistory, { conversationId }))).toMatchObject(unauthorized);
    expect(await refusalOf(runner.call(method.pageEvents, { conversationId }))).toMatchObject(unauthorized);
  }
  for (const scope of [
    { threadId: "thread" },
    { botId: "another" },
    { botId: undefined },
    { workspaceId: undefined },
  ]) {
    const beside = await stage.addRunner({ scope });
    expect((await beside.call(method.pageHistory)).items).toEqual([]);
    expect((await beside.call(method.searchHistory, { query: "message" })).items).toEqual([]);
  }
});

test("an item has its sender, text and position, and its artifacts on request", async ({ stage }) => {
  const runner = await stage.addRunner({ scope: { threadId: "thread" } });
  await addHistory(stage.db, runner, [{ content: "draw" }, { role: "assistant", content: "here" }]);
  await stage.db
    .insertInto("artifact")
    .values({
      client,
      artifact_id: "picture",
      run_id: runner.runId,
      runner_id: runner.scope.runnerId,
      scope: conversationKey(runner.scope) ?? null,
      artifact_type: "image",
      mime_type: "image/png",
      name: null,
      size_bytes: 3,
      sha256: null,
      metadata: "{}",
      content: Buffer.from("png"),
      is_complete: true,
      expire_time: null,
    })
    .execute();
  const { items } = await runner.call(method.pageHistory, { includeArtifacts: true });
  expect(items[1]).toMatchObject({
    eventId: runner.scope.eventId,
    conversationId: "conversation",
    threadId: "thread",
    role: "assistant",
    itemType: "message",
    content: "here",
    contentJson: '{"role":"assistant","content":"here"}',
    seq: 2n,
    metadata: "{}",
  });
  expect(items.map(({ artifactRefs }) => artifactRefs.map((text) => JSON.parse(text).artifact_id))).toEqual([
    [],
    ["picture"],
  ]);
  const plain = await runner.call(method.pageHistory);
  expect(plain.items.flatMap(({ artifactRefs }) => artifactRefs)).toEqual([]);
});

test("a search takes its text literally, ignores case, and gives the newest first", async ({ stage }) => {
  const runner = await stage.addRunner();
  const said = [
    "100%",
    "a_b",
    "axb",
    "Ärger über [a-z]*",
    "ДОБРЫЙ день",
    "back\\slash",
    "STRASSE",
    "two  blanks",
    "a.b|c",
  ];
  await addHistory(
    stage.db,
    runner,
    said.map((content) => ({ content })),
  );
  const find = async (query: string) =>
    (await runner.call(method.searchHistory, { query })).items.map(({ content }) => content);
  expect(await find("%")).toEqual(["100%"]);
  expect(await find("_")).toEqual(["a_b"]);
  expect(await find("A_B")).toEqual(["a_b"]);
  expect(await find("ÄRGER ÜBER")).toEqual(["Ärger über [a-z]*"]);
  expect(await find("[A-Z]*")).toEqual(["Ärger über [a-z]*"]);
  expect(await find("добрый ДЕНЬ")).toEqual(["ДОБРЫЙ день"]);
  expect(await find("k\\s")).toEqual(["back\\slash"]);
  expect(await find("o  b")).toEqual(["two  blanks"]);
  expect(await find(".")).toEqual(["a.b|c"]);
  expect(await find("***=a")).toEqual([]);
  expect(await find("(?i)a")).toEqual([]);
  expect(await find("a\0b")).toEqual([]);
  expect(await find("b")).toEqual(["a.b|c", "two  blanks", "back\\slash", "Ärger über [a-z]*", "axb", "a_b"]);
});

test("a search gives ten items by default, at most a hundred, and counts all matches", async ({ stage }) => {
  const runner = await addNumbered(stage, 120);
  await addHistory(stage.db, runner, [{ role: "assistant", content: "message of the runner" }]);
  const find = (request: { query: string; topK?: number; filters?: string }) =>
    runner.call(method.searchHistory, request);
  expect(seqs(await find({ query: "MESSAGE" }))).toEqual(numbers(112, 121).toReversed());
  const clamped = await find({ query: "message", topK: 1_000 });
  expect(clamped.items).toHaveLength(100);
  expect(clamped).toMatchObject({ totalCount: 121n, query: "message" });
  expect(seqs(await find({ query: "message", filters: '{"role":"assistant"}' }))).toEqual([121]);
  const found = (await find({ query: "message 60" })).items[0]?.cursor ?? expect.fail("nothing was found");
  expect(seqs(await runner.call(method.pageHistory, { beforeCursor: found, limit: 2 }))).toEqual([58, 59]);
  for (const wrong of [
    { query: "" },
    { query: "a".repeat(257) },
    { query: "a", topK: -1 },
    { query: "a", filters: "[]" },
    { query: "a", filters: "{" },
    { query: "a", filters: '{"role":1}' },
    { query: "a", filters: '{"thread_id":"a"}' },
  ]) {
    expect(await refusalOf(find(wrong))).toMatchObject(invalid);
  }
});

test("a page and a search filter by roles and types", async ({ stage }) => {
  const runner = await stage.addRunner();
  const said = ["user", "assistant", "tool", "user"].map((role) => ({ role, content: `a ${role}` }));
  await addHistory(stage.db, runner, said);
  await addEvent(stage.db, runner, { seq: 1 });
  const other = await stage.addRunner();
  await addHistory(stage.db, other, [{ content: "a recall" }]);
  await addEvent(stage.db, other, { seq: 2, type: "message.recalled" });
  const page = async (request: { roles?: string[]; itemTypes?: string[]; limit?: number; beforeCursor?: string }) =>
    await runner.call(method.pageHistory, request);
  const find = async (filters: unknown) =>
    await runner.call(method.searchHistory, { query: "a ", filters: JSON.stringify(filters) });
  expect(seqs(await page({ roles: ["user", "tool"] }))).toEqual([1, 3, 4, 5]);
  expect(seqs(await page({ roles: ["nobody", "a\0"] }))).toEqual([]);
  expect(seqs(await page({ itemTypes: ["message"], roles: ["assistant"] }))).toEqual([2]);
  expect(seqs(await page({ itemTypes: ["tool_call"] }))).toEqual([]);
  const last = await page({ roles: ["user"], limit: 2 });
  expect([seqs(last), last.hasMore]).toEqual([[4, 5], true]);
  const first = await page({ roles: ["user"], limit: 2, beforeCursor: cursor(last) });
  expect([seqs(first), first.hasMore]).toEqual([[1], false]);
  for (const [filters, found] of [
    [{ roles: ["user"] }, [5, 4, 1]],
    [{ roles: ["user", "tool"], item_types: ["message", "tool_call"] }, [5, 4, 3, 1]],
    [{ item_types: ["tool_call"] }, []],
    [{ roles: [], item_types: null, conversation_id: null }, [5, 4, 3, 2, 1]],
    [{ conversation_id: "conversation", roles: ["assistant"] }, [2]],
    [{ event_types: ["message.recalled"] }, [5]],
    [{ event_types: ["message.received"], role: "user" }, [4, 1]],
  ] as const) {
    const answer = await find(filters);
    expect([filters, seqs(answer), answer.totalCount]).toEqual([filters, found, BigInt(found.length)]);
  }
});

test("a search in another conversation is refused like a page of it", async ({ stage }) => {
  const runner = await addNumbered(stage, 1);
  for (const conversation_id of ["another", ""]) {
    const filters = JSON.stringify({ conversation_id });
    expect(await refusalOf(runner.call(method.searchHistory, { query: "a", filters }))).toMatchObject(unauthorized);
  }
});

test("invalid filters are refused, and the error names them", async () => {
  const runner = await (await openStage()).addRunner();
  for (const [given, field] of [
    [{ roles: "user" }, "filters.roles"],
    [{ roles: ["user", 1] }, "filters.roles[1]"],
    [{ item_types: {} }, "filters.item_types"],
    [{ item_types: Array(65).fill("message") }, "filters.item_types"],
    [{ event_types: [null] }, "filters.event_types[0]"],
    [{ conversation_id: 1 }, "filters.conversation_id"],
    [{ role: "user", roles: ["user"] }, "filters.role"],
    [{ thread_id: "t" }, "filters.thread_id"],
  ] as const) {
    const filters = JSON.stringify(given);
    const refusal = await refusalOf(runner.call(method.searchHistory, { query: "a", filters }));
    expect(refusal).toMatchObject({ ...invalid, message: expect.stringContaining(`invalid ${field}: `) });
  }
  const roles = Array(65).fill("user");
  const refusal = await refusalOf(runner.call(method.pageHistory, { roles }));
  expect(refusal).toMatchObject({ ...invalid, message: expect.stringContaining("roles") });
});

test("a run finds its own events and those of its conversation, and no others", async ({ stage }) => {
  const runner = await stage.addRunner();
  const neighbour = await stage.addRunner();
  const elsewhere = await stage.addRunner({ scope: { conversationId: "elsewhere" } });
  const alone = await stage.addRunner({ scope: { conversationId: undefined } });
  await addEvent(stage.db, runner, { seq: 1 });
  await addEvent(stage.db, neighbour, { seq: 2, type: "message.recalled" });
  await addEvent(stage.db, elsewhere, { seq: 1 });
  await addEvent(stage.db, alone, { seq: 1 });
  const get = (who: Runner, whose: Runner) => who.call(method.getEvent, { eventId: whose.scope.eventId });
  expect((await get(runner, neighbour)).record).toMatchObject({
    eventId: neighbour.scope.eventId,
    eventType: "message.recalled",
    source: "test",
    seq: 2n,
    metadata: "{}",
  });
  const own = (await get(alone, alone)).record;
  expect(own?.eventId).toBe(alone.scope.eventId);
  expect(own?.cursor).toBeUndefined();
  const answers = await Promise.all([
    refusalOf(get(runner, elsewhere)),
    refusalOf(get(runner, alone)),
    refusalOf(get(alone, runner)),
    refusalOf(runner.call(method.getEvent, { eventId: "never happened" })),
  ]);
  expect(answers[0]).toMatchObject(notFound);
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});

test("events are listed newest first, in pages, and by type on request", async ({ stage }) => {
  const runner = await stage.addRunner();
  await addEvent(stage.db, runner, { seq: 1 });
  for (const seq of numbers(2, 5)) {
    const type = seq % 2 === 0 ? "message.recalled" : "message.received";
    await addEvent(stage.db, await stage.addRunner(), { seq, type });
  }
  const first = await runner.call(method.pageEvents, { limit: 3 });
  expect(first.items.map(({ seq }) => Number(seq))).toEqual([5, 4, 3]);
  const second = await runner.call(method.pageEvents, { limit: 3, beforeCursor: first.nextCursor ?? "" });
  expect(second.items.map(({ seq }) => Number(seq))).toEqual([2, 1]);
  expect(second).toMatchObject({ hasMore: false });
  const recalled = await runner.call(method.pageEvents, { eventTypes: ["message.recalled", "a\0"] });
  expect(recalled.items.map(({ seq }) => Number(seq))).toEqual([4, 2]);
});

function cursor({ nextCursor }: PageHistoryResponse): string {
  return nextCursor ?? expect.fail("there is no next page");
}
