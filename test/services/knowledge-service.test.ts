// KnowledgeService over gRPC and REST.

import type { ServiceError } from "@grpc/grpc-js";
import { test as base, describe, expect } from "vitest";
import { KnowledgeService } from "#gen/runnel/runner/v1/knowledge_service_pb.js";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";

const test = base.extend("stage", () => openStage());

const { putKnowledgeBase, listKnowledgeBases, deleteKnowledgeBase, putKnowledgeEntries, deleteKnowledgeEntries } =
  KnowledgeService.method;

async function openStage() {
  const service = await startService();
  const rest = async (method: string, path: string, body?: string, clientId = "tenant-a") => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { ...credentialsOf(clientId), "content-type": "application/json" },
      ...(body !== undefined && { body }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const grpc = new GrpcClient(service.target, credentialsOf("tenant-a"));
  const stranger = new GrpcClient(service.target, credentialsOf("tenant-b"));
  const entries = async () =>
    await query<{ entry_id: string; content: string; metadata: string }>(
      service.databaseUrl,
      "select entry_id, content, metadata from knowledge_entry order by client, kb_id, entry_id",
    );
  return { service, rest, grpc, stranger, entries };
}

async function refusal(call: Promise<unknown>): Promise<ServiceError> {
  return await call.then(
    () => {
      throw new Error("the call was not refused");
    },
    (error: ServiceError) => error,
  );
}

describe("a knowledge base", () => {
  test("is created, renamed, listed by id in pages, and deleted with its entries", async () => {
    const { rest, entries } = await openStage();
    const made = await rest("PUT", "/v1/knowledge-bases/manual", '{"name":"Manual"}');
    expect(made).toEqual({ status: 200, body: { kb_id: "manual", name: "Manual", create_time: expect.any(String) } });
    await rest("POST", "/v1/knowledge-bases/manual/entries", '{"entries":[{"entry_id":"a","content":"x"}]}');
    const renamed = await rest("PUT", "/v1/knowledge-bases/manual", '{"name":"Handbook"}');
    expect(renamed.body).toEqual({ ...made.body, name: "Handbook" });
    expect(await entries()).toHaveLength(1);
    await rest("PUT", "/v1/knowledge-bases/B-2.x_", "{}");
    const first = await rest("GET", "/v1/knowledge-bases?page_size=1");
    const second = await rest("GET", `/v1/knowledge-bases?page_size=1&page_token=${first.body.next_page_token}`);
    const listed = [...first.body.knowledge_bases, ...second.body.knowledge_bases];
    expect(listed.map(({ kb_id: id }: { kb_id: string }) => id).toSorted()).toEqual(["B-2.x_", "manual"]);
    expect((await rest("DELETE", "/v1/knowledge-bases/manual")).status).toBe(200);
    expect(await entries()).toEqual([]);
    const again = await rest("DELETE", "/v1/knowledge-bases/manual");
    expect(again).toMatchObject({ status: 404, body: { reason: "KNOWLEDGE_BASE_NOT_FOUND" } });
  });

  test("of another client does not exist, and each client may use its id", async () => {
    const { grpc, stranger, entries } = await openStage();
    await grpc.call(putKnowledgeBase, { knowledgeBase: { kbId: "manual", name: "ours" } });
    await grpc.call(putKnowledgeEntries, { kbId: "manual", entries: [{ entryId: "a", content: "ours" }] });
    expect((await stranger.call(listKnowledgeBases, {})).knowledgeBases).toEqual([]);
    const foreign = { entries: [{ entryId: "a", content: "theirs" }], entryIds: ["a"] };
    for (const kbId of ["manual", "unknown"]) {
      const calls = [
        stranger.call(putKnowledgeEntries, { kbId, entries: foreign.entries }),
        stranger.call(deleteKnowledgeEntries, { kbId, entryIds: foreign.entryIds }),
        stranger.call(deleteKnowledgeBase, { kbId }),
      ];
      for (const error of await Promise.all(calls.map(refusal))) {
        expect(reasonOf(error)).toBe("KNOWLEDGE_BASE_NOT_FOUND");
        expect(error.details).toBe("knowledge base not found");
      }
    }
    await stranger.call(putKnowledgeBase, { knowledgeBase: { kbId: "manual", name: "theirs" } });
    await stranger.call(deleteKnowledgeBase, { kbId: "manual" });
    expect(await entries()).toMatchObject([{ content: "ours" }]);
    expect((await grpc.call(listKnowledgeBases, {})).knowledgeBases).toMatchObject([{ name: "ours" }]);
  });

  test("is refused without credentials", async ({ stage: { service } }) => {
    const nobody = new GrpcClient(service.target, {});
    expect(reasonOf(await refusal(nobody.call(listKnowledgeBases, {})))).toBe("CREDENTIALS_MISSING");
  });

  test.for(["", "a/b", "a b", "ä", "x".repeat(129)])("refuses the id %j", async (kbId, { stage: { grpc } }) => {
    const error = await refusal(grpc.call(putKnowledgeBase, { knowledgeBase: { kbId } }));
    expect(reasonOf(error)).toBe("INVALID_ARGUMENT");
    expect(error.details).toContain("kb_id");
  });
});

describe("entries", () => {
  test("replace entries with the same ids, and keep their metadata as it was written", async () => {
    const { rest, entries } = await openStage();
    await rest("PUT", "/v1/knowledge-bases/manual", "{}");
    const put = async (body: string) => await rest("POST", "/v1/knowledge-bases/manual/entries", body);
    const metadata = '{"n":9007199254740993,"v":1.0,"z":[1.50,{"a":null}]}';
    expect(await put(`{"entries":[{"entry_id":"a","content":"one","metadata":${metadata}}]}`)).toEqual({
      status: 200,
      body: {},
    });
    expect(await entries()).toEqual([{ entry_id: "a", content: "one", metadata }]);
    await put('{"entries":[{"entry_id":"a","content":"two"},{"entry_id":"b","content":"three"}]}');
    expect(await entries()).toEqual([
      { entry_id: "a", content: "two", metadata: "{}" },
      { entry_id: "b", content: "three", metadata: "{}" },
    ]);
    const deleted = await rest("POST", "/v1/knowledge-bases/manual/entries:delete", '{"entry_ids":["b","c"]}');
    expect(deleted).toEqual({ status: 200, body: { deleted: 1 } });
    expect(await rest("POST", "/v1/knowledge-bases/manual/entries:delete", '{"entry_ids":["b"]}')).toEqual({
      status: 200,
      body: { deleted: 0 },
    });
    expect(await entries()).toMatchObject([{ entry_id: "a" }]);
  });

  test("can be written by two callers at once, and each batch stays whole", async ({ stage: { grpc, entries } }) => {
    await grpc.call(putKnowledgeBase, { knowledgeBase: { kbId: "manual" } });
    const ids = Array.from({ length: 100 }, (_, index) => `e${index}`);
    const batch = (content: string, order: readonly string[]) =>
      grpc.call(putKnowledgeEntries, { kbId: "manual", entries: order.map((entryId) => ({ entryId, content })) });
    await Promise.all([batch("one", ids), batch("two", ids.toReversed()), batch("three", ids)]);
    expect(new Set((await entries()).map(({ content }) => content)).size).toBe(1);
  });

  // So many different words do not fit into an index entry.
  const words = Array.from({ length: 140_000 }, (_, index) => `w${index.toString(36)}q`).join(" ");
  const mebibyte = 1_048_576;

  test.each<[string, { entryId?: string; content?: string; metadata?: string }[], string]>([
    ["no entries", [], "entries"],
    ["too many", Array.from({ length: 101 }, (_, index) => ({ entryId: `e${index}` })), "entries"],
    ["no id", [{ entryId: "" }], "entries[0].entry_id"],
    ["an id with a control character", [{ entryId: "a\n" }], "entries[0].entry_id"],
    ["an id that is too long", [{ entryId: "a".repeat(257) }], "entries[0].entry_id"],
    ["an id that comes twice", [{ entryId: "b" }, { entryId: "a" }, { entryId: "b" }], "entries[2].entry_id"],
    ["no text", [{ content: "" }], "entries[0].content"],
    ["a text that is too long", [{ content: "x".repeat(mebibyte + 1) }], "entries[0].content"],
    ["a text with NUL", [{}, { entryId: "b", content: "a\0b" }], "entries[1].content"],
    ["a text of too many words", [{}, { entryId: "0", content: words }], "entries[1].content"],
    ["metadata that is invalid JSON", [{ metadata: "{" }], "entries[0].metadata"],
    ["metadata that is not an object", [{ metadata: "[]" }], "entries[0].metadata"],
    ["metadata that is too long", [{ metadata: `{"a":"${"x".repeat(65_536)}"}` }], "entries[0].metadata"],
    ["metadata with NUL", [{ metadata: '{"a":"\\u0000"}' }], "entries[0].metadata"],
    ["metadata with half a character", [{ metadata: '{"a":"\\ud83d"}' }], "entries[0].metadata"],
    ["metadata with a number beyond all", [{ metadata: '{"a":1e9999999}' }], "entries[0].metadata"],
  ])("with %s are refused: none is written, and the error names the field", async (_, given, field) => {
    const { grpc, entries } = await openStage();
    await grpc.call(putKnowledgeBase, { knowledgeBase: { kbId: "manual" } });
    const wanted = given.map((entry) => ({ entryId: "a", content: "x", ...entry }));
    const error = await refusal(grpc.call(putKnowledgeEntries, { kbId: "manual", entries: wanted }));
    expect([reasonOf(error), error.details]).toEqual(["INVALID_ARGUMENT", expect.stringContaining(field)]);
    expect(await entries()).toEqual([]);
  });

  test("may have one mebibyte each, and a request at most three", async ({ stage: { grpc, entries } }) => {
    await grpc.call(putKnowledgeBase, { knowledgeBase: { kbId: "manual" } });
    const large = (count: number, bytes: number) =>
      Array.from({ length: count }, (_, index) => ({ entryId: `e${index}`, content: "word ".padEnd(bytes, "x") }));
    await grpc.call(putKnowledgeEntries, { kbId: "manual", entries: large(3, mebibyte) });
    expect(await entries()).toHaveLength(3);
    const error = await refusal(grpc.call(putKnowledgeEntries, { kbId: "manual", entries: large(4, 800_000) }));
    expect(reasonOf(error)).toBe("PAYLOAD_TOO_LARGE");
  });
});
