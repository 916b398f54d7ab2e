// Knowledge bases as runners search them through their host.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { test as base, describe, expect } from "vitest";
import { RetrieveKnowledgeRequestSchema } from "#gen/runnel/host/v1/host_knowledge_service_pb.js";
import {
  deleteKnowledgeBase,
  findKnowledgeBase,
  type NewEntry,
  upsertKnowledgeBase,
  upsertKnowledgeEntry,
} from "../../src/protocols/langbot/storage/knowledge.ts";
import { ask, client, openThinking } from "./thinking-stage.ts";

const test = base.extend("stage", () => openStage());

const kbId = "manual";

type Asked = MessageInitShape<typeof RetrieveKnowledgeRequestSchema>;

async function openStage() {
  const stage = await openThinking({ grant: { knowledgeBases: { [kbId]: ["retrieve"], other: ["list"] } } });
  const { db, thinking, runId, context } = stage;
  await upsertKnowledgeBase(db, { client, kbId, name: "Manual" });
  const put = async (entries: readonly Partial<NewEntry>[], owner = { client, kbId }): Promise<void> => {
    await db.transaction().execute(async (trx) => {
      for (const [index, given] of entries.entries()) {
        const entry = { entryId: `e${index}`, content: "word", metadata: "{}", ...given };
        await upsertKnowledgeEntry(trx, { ...owner, entry });
      }
    });
  };
  const retrieve = async (request: Asked): Promise<string[]> => {
    const whole = { runId, kbId, ...request };
    const { results = [] } = await ask(thinking.retrieveKnowledge, RetrieveKnowledgeRequestSchema, whole, context);
    return results as string[];
  };
  const find = async (queryText: string, more: Asked = {}): Promise<string[]> =>
    (await retrieve({ queryText, ...more })).map((result) => JSON.parse(result).id);
  return { ...stage, put, retrieve, find };
}

describe("a search", () => {
  test("finds entries with any of the words, in any case, best matches first", async ({ stage: { put, find } }) => {
    await put([
      { content: "The blue pump moves water." },
      { content: "Change the filter of the red pump every month. The red pump is the small one." },
      { content: "Invoices are sent on Fridays." },
      { content: "The RED one." },
    ]);
    expect((await find("red pump"))[0]).toBe("e1");
    expect((await find("red pump")).toSorted()).toEqual(["e0", "e1", "e3"]);
    expect(await find("fridays")).toEqual(["e2"]);
    expect(await find("unheard")).toEqual([]);
    expect(await find("?!  …")).toEqual([]);
  });

  test("finds Chinese and Japanese text, which has no spaces between words", async ({ stage: { put, find } }) => {
    await put([
      { content: "每月更换红色水泵的滤芯。" },
      { content: "发票在星期五寄出。" },
      { content: "ポンプは赤いです" },
    ]);
    expect((await find("水泵怎么更换"))[0]).toBe("e0");
    expect((await find("星期五"))[0]).toBe("e1");
    expect((await find("赤いポンプ"))[0]).toBe("e2");
  });

  test("takes every character of the query literally", async ({ stage: { put, find } }) => {
    await put([{ content: "It's at https://example.com/a?b=1&c=2 or C:\\temp\\x" }, { content: "another" }]);
    expect(await find("https://example.com/a?b=1&c=2")).toEqual(["e0"]);
    expect(await find("C:\\temp\\x")).toEqual(["e0"]);
    for (const query of ["& | ! ( ) <-> :*", "'", "\\", "'' | '", "\\' | another:*A", "%_", "!another"]) {
      expect(await find(query)).not.toContain("e0");
    }
  });

  test("gives entries with unchanged metadata and a score between 0 and 1", async ({ stage: { put, retrieve } }) => {
    const metadata = '{"id": 9007199254740993, "v": 1.0, "deep": {"b": [1.50]}}';
    await put([{ content: 'a "quoted" word', metadata }]);
    const [result = ""] = await retrieve({ queryText: "word" });
    expect(result).toContain(`"metadata":${metadata},"score":`);
    const { id, content, score } = JSON.parse(result);
    expect([id, content]).toEqual(["e0", 'a "quoted" word']);
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThan(1);
  });

  test("filters by equal members of the metadata", async ({ stage: { put, find } }) => {
    await put([
      { metadata: '{"lang":"en","n":1,"tags":["a","b"],"none":null}' },
      { metadata: '{"lang":"de","n":9007199254740993}' },
      { metadata: '{"lang":"en","n":2,"tags":["a"]}' },
    ]);
    const narrowed = async (filters: string) => (await find("word", { filters })).toSorted();
    expect(await narrowed('{"lang":"en"}')).toEqual(["e0", "e2"]);
    expect(await narrowed('{"lang":"en","n":1.0}')).toEqual(["e0"]);
    expect(await narrowed('{"n":9007199254740993}')).toEqual(["e1"]);
    expect(await narrowed('{"n":9007199254740992}')).toEqual([]);
    expect(await narrowed('{"tags":["a"]}')).toEqual(["e2"]);
    // A null member differs from a missing one.
    expect(await narrowed('{"none":null}')).toEqual(["e0"]);
    expect(await narrowed('{"missing":null}')).toEqual([]);
    expect(await narrowed("{}")).toEqual(["e0", "e1", "e2"]);
    expect(await narrowed("")).toEqual(["e0", "e1", "e2"]);
  });

  test("gives five entries by default, and up to a hundred", async ({ stage: { put, find } }) => {
    await put(Array.from({ length: 120 }, () => ({})));
    expect(await find("word")).toHaveLength(5);
    expect(await find("word", { topK: 1 })).toHaveLength(1);
    expect(await find("word", { topK: 100 })).toHaveLength(100);
  });

  test("gives as many of the best entries as fit into an answer", async ({ stage: { put, retrieve } }) => {
    await put(Array.from({ length: 6 }, () => ({ content: `word ${"x".repeat(1_000_000)}` })));
    expect(await retrieve({ queryText: "word", topK: 6 })).toHaveLength(3);
    // Its JSON is six times as long.
    await put([{ content: `control ${"\u0001".repeat(1_000_000)}` }]);
    await expect(retrieve({ queryText: "control" })).rejects.toMatchObject({ reason: "PAYLOAD_TOO_LARGE" });
  });

  test("covers one knowledge base of one client", async ({ stage: { put, find, db } }) => {
    const others = [
      { client: "shared/other", kbId },
      { client, kbId: "other" },
    ];
    for (const owner of others) {
      await upsertKnowledgeBase(db, { ...owner, name: "" });
      await put([{ entryId: "foreign" }], owner);
    }
    await put([{}]);
    expect(await find("word")).toEqual(["e0"]);
  });

  test("needs the grant for this knowledge base", async ({ stage: { find } }) => {
    for (const other of ["other", "nowhere", "constructor"]) {
      await expect(find("word", { kbId: other })).rejects.toMatchObject({ reason: "GRANT_REFUSED" });
    }
  });

  test("in a knowledge base that was deleted after the grant reports it missing", async () => {
    const { find, db, put } = await openStage();
    expect(await find("word")).toEqual([]);
    await put([{}]);
    await deleteKnowledgeBase(db, client, kbId);
    await expect(find("word")).rejects.toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  });

  test.for<[string, Asked, string]>([
    ["an empty query", { queryText: " " }, "query_text"],
    ["a query that is too long", { queryText: "字".repeat(2_731) }, "query_text"],
    ["a query with NUL", { queryText: "a\0b" }, "query_text"],
    ["a negative number of entries", { queryText: "a", topK: -1 }, "top_k"],
    ["more entries than there may be", { queryText: "a", topK: 101 }, "top_k"],
    ["filters that are no JSON", { queryText: "a", filters: "{" }, "filters"],
    ["filters that are no object", { queryText: "a", filters: "[]" }, "filters"],
    ["a filter with a character that no text can have", { queryText: "a", filters: '{"a":"\\u0000"}' }, "filters"],
    ["a filter with half a character", { queryText: "a", filters: '{"a":"\\ud83d"}' }, "filters"],
    ["a filter beyond all numbers", { queryText: "a", filters: '{"a":1e9999999}' }, "filters"],
  ] as const)("with %s is refused", async ([_, request, field], { stage: { retrieve, put } }) => {
    await put([{ content: "a" }]);
    await expect(retrieve(request)).rejects.toMatchObject({ reason: "INVALID_ARGUMENT", violations: [{ field }] });
  });
});

test("grants find a knowledge base by client and id", async ({ stage: { db } }) => {
  expect(await findKnowledgeBase(db, client, kbId)).toMatchObject({ kb_id: kbId, name: "Manual" });
  expect(await findKnowledgeBase(db, "shared/other", kbId)).toBeUndefined();
  expect(await findKnowledgeBase(db, client, "nowhere")).toBeUndefined();
});
