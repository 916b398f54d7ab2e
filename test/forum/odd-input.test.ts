// Odd input of every kind: ids of any shape, bodies of any content. Each is refused in the documented form, breaks nothing, and
// changes no data.

import { createHash } from "node:crypto";
import { type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import type { ServiceError } from "@grpc/grpc-js";
import fc from "fast-check";
import { expect, onTestFinished, vi } from "vitest";
import { ForumAdminService } from "#gen/runnel/community/v1/forum_admin_service_pb.js";
import { ForumService } from "#gen/runnel/community/v1/forum_service_pb.js";
import { SignedBody, stableStringify } from "../../src/protocols/community/forum/signing/body.ts";
import { payloadV1, signPayload } from "../../src/protocols/community/forum/signing/signature.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { anyJson } from "../harness/json-value.ts";
import {
  asAdmin,
  callForum,
  type Forum,
  newThread,
  readHeaders,
  send,
  signedHeaders,
  takeNonce,
  test,
  write,
} from "./stage.ts";

const oddTexts = [
  "",
  " ",
  "\0",
  "a\0b",
  "\u{10ffff}",
  "\ufeff",
  "'; drop table community; --",
  "%",
  "../..",
  "{}",
  "null",
  "x".repeat(10_000),
  "00000000-0000-0000-0000-000000000000",
  "1e999",
  "\u202e",
  "\r\n",
];

async function stateOf({ query }: Forum) {
  return await query(`
    select (select count(*) from forum_thread) as threads, (select count(*) from forum_comment) as comments,
      (select count(*) from community_contract) as contracts, (select count(*) from forum_agent) as agents,
      (select count(*) from forum_thread where is_resolved or is_rejected or is_issued) as changed`);
}

const isRefusal = ({ status, body }: { status: number; body: unknown }): boolean =>
  status >= 400 && status < 500 && typeof (body as { error?: unknown } | undefined)?.error === "string";

test("ids of any shape in a path, a query or a header are refused", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const body = { body: "x", status: "pending", isIssued: true };
  const before = await stateOf(forum);
  for (const text of oddTexts.filter((each) => each.trim() !== "")) {
    const id = encodeURIComponent(text);
    const answers = [
      await write(forum.service, ada, "POST", `/api/threads/${id}/comments`, body),
      await write(forum.service, ada, "PATCH", `/api/threads/${id}/request-status`, body),
      await write(forum.service, ada, "PATCH", `/api/threads/${id}/issued`, body),
      await write(forum.service, ada, "PATCH", `/api/comments/${id}/issued`, body),
      await write(forum.service, ada, "POST", "/api/threads", { communityId: text, title: "a", body: "b" }),
      ...(await Promise.all(
        [
          `/api/agents/${id}/general`,
          `/api/agents/context?agentId=${id}`,
          `/api/agents/contracts/source?contractId=${id}`,
          `/api/agents/contracts/source?contractAddress=${id}`,
          `/api/agents/threads/comments?threadId=${id}`,
          `/api/agents/threads/comments?threadId=nowhere&commentLimit=${id}`,
        ].map((path) => send(forum.service, "GET", path, { headers: readHeaders(ada) })),
      )),
    ];
    expect(answers.filter((answer) => !isRefusal(answer)).map((answer) => [text, answer])).toEqual([]);
  }
  expect(await stateOf(forum)).toEqual(before);
});

test("a gRPC message with odd values about its sender is refused", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const before = await stateOf(forum);
  const { createThread, issueAgentNonce, getAgentGeneral } = ForumService.method;
  for (const text of oddTexts) {
    const proof = { runnerToken: text, agentId: text, nonce: text, timestamp: text, signature: text };
    const now = { ...proof, agentId: ada.id, runnerToken: ada.token, timestamp: String(Date.now()) };
    const document = { data: Buffer.from("{}") };
    const { nonce: _, timestamp: __, signature: ___, ...reader } = proof;
    for (const told of [
      await callForum(forum.service, createThread, { ...proof, document }),
      await callForum(forum.service, createThread, { ...now, document }),
      await callForum(forum.service, createThread, { ...now, signatureVersion: "2", keyId: text, document }),
      await callForum(forum.service, createThread, { ...now, signatureVersion: text, document }),
      await callForum(forum.service, issueAgentNonce, reader),
      await callForum(forum.service, getAgentGeneral, { ...reader, id: text }),
    ]) {
      expect([3, 16]).toContain(told.code);
    }
  }
  expect(await stateOf(forum)).toEqual(before);
});

test("odd bodies are refused, or have the effect that they describe", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const threadId = await newThread(forum, ada, { type: "REQUEST_TO_HUMAN" });
  const before = await stateOf(forum);
  const anyMember = fc.oneof(
    anyJson({ maxDepth: 1 }),
    fc.constantFrom<unknown>(...oddTexts, "\ud800", 7, true, null, []),
  );
  const anyBody = fc.oneof(
    anyJson({ maxDepth: 2 }),
    fc.record(
      { title: anyMember, body: anyMember, type: anyMember, status: anyMember, communityId: anyMember },
      { requiredKeys: [] },
    ),
  );
  await fc.assert(
    fc.asyncProperty(anyBody, async (body) => {
      // No body here names the community, so none can create a thread.
      const thread = await write(forum.service, ada, "POST", "/api/threads", body);
      expect(isRefusal(thread)).toBe(true);
      const comment = await write(forum.service, ada, "POST", "/api/threads/nowhere/comments", body);
      expect(isRefusal(comment)).toBe(true);
      const status = await write(forum.service, ada, "PATCH", `/api/threads/${threadId}/request-status`, body);
      expect(status.status === 200 || isRefusal(status)).toBe(true);
    }),
    { numRuns: 40 },
  );
  expect(await stateOf(forum)).toEqual(before);
});

test("text that cannot be stored is refused, or stored with replacements", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const post = (title: string) =>
    write(forum.service, ada, "POST", "/api/threads", { communityId: forum.communityId, title, body: "b" });
  const nul = await post("a\0b");
  expect([nul.status, nul.body]).toEqual([400, { error: "title must not contain U+0000" }]);
  expect((await post("a\ud800b")).body.thread.title).toBe("a\ufffdb");
  expect((await post("x".repeat(180))).status).toBe(200);
});

test("invalid JSON is refused, and invalid UTF-8 is replaced as in other readers", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const post = async (bytes: Uint8Array<ArrayBuffer>, signed: unknown = {}) => {
    const headers = signedHeaders(ada, { nonce: await takeNonce(forum.service, ada), body: signed });
    const { status, body } = await send(forum.service, "POST", "/api/threads", { headers, body: bytes });
    return [status, body.error];
  };
  const invalid = [400, "Invalid JSON body"];
  for (const text of [
    "",
    " ",
    "{",
    "{}x",
    "undefined",
    "NaN",
    "'a'",
    "[1,]",
    "{a:1}",
    "01",
    "\u00a0{}",
    "[".repeat(200_000),
  ]) {
    expect(await post(Buffer.from(text))).toEqual(invalid);
  }
  expect(await post(Buffer.from([0xff, 0xfe]))).toEqual(invalid);
  const replaced = { communityId: forum.communityId, title: "a\ufffd", body: "b" };
  const bytes = Buffer.from(JSON.stringify({ ...replaced, title: "a\x01" }).replace("\\u0001", "\x01"), "latin1");
  bytes[bytes.indexOf(1)] = 0xff;
  expect(await post(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]), replaced)).toEqual([200, undefined]);
});

test("content types are ignored, and compression is refused", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const body = { communityId: forum.communityId, title: "a", body: "b" };
  const post = async (more: Record<string, string>) => {
    const { "content-type": _, ...headers } = signedHeaders(ada, { nonce: await takeNonce(forum.service, ada), body });
    const answer = await send(forum.service, "POST", "/api/threads", {
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    });
    return answer.status;
  };
  expect(await post({ "content-type": "text/plain" })).toBe(200);
  expect(await post({ "content-type": "application/x-protobuf" })).toBe(200);
  expect(await post({ "content-encoding": "gzip" })).toBe(415);
});

test("a gRPC write without a document is refused as invalid JSON", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const nonce = await takeNonce(forum.service, ada);
  const timestamp = String(Date.now());
  const hash = createHash("sha256").update(stableStringify({})).digest("hex");
  const signature = signPayload(ada.token, payloadV1({ nonce, timestamp, agentId: ada.id }, hash));
  const client = new GrpcClient(forum.service.target, {});
  const call = client.call(ForumService.method.createThread, {
    runnerToken: ada.token,
    agentId: ada.id,
    nonce,
    timestamp,
    signature,
  });
  await expect(call).rejects.toMatchObject({ code: 3, details: "Invalid JSON body" });
});

test("a large body is parsed only for a sender who is known", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const read = vi.spyOn(SignedBody, "read");
  onTestFinished(() => read.mockRestore());
  const body = { title: "t", body: "x".repeat(100_000) };
  const text = JSON.stringify(body);
  const post = async (agent: typeof ada, nonce: string) =>
    await send(forum.service, "POST", "/api/threads", { headers: signedHeaders(agent, { nonce, body }), body: text });
  expect(await post({ ...ada, token: "wrong" }, "nonce")).toMatchObject({ status: 401 });
  expect(read).not.toHaveBeenCalled();
  await post(ada, await takeNonce(forum.service, ada));
  expect(read).toHaveBeenCalledOnce();
});

test("odd input from administrators is refused or applied, and breaks nothing", async ({ forum }) => {
  const admin = new GrpcClient(forum.service.target, asAdmin);
  const { id: agentId } = await forum.addAgent("ada");
  const ids: Record<string, string> = { communityId: forum.communityId, agentId, id: forum.communityId };
  const codes = new Set<number>();
  for (const method of Object.values(ForumAdminService.method) as DescMethod[]) {
    for (const text of oddTexts) {
      for (const known of [{}, ids]) {
        const error = await admin.call(method, oddMessage(method.input, text, known)).catch((failure) => failure);
        codes.add(error instanceof Error ? (error as ServiceError).code : 0);
      }
    }
  }
  // Invalid argument, not found, already exists, failed precondition.
  expect([...codes].filter((code) => ![0, 3, 5, 6, 9].includes(code))).toEqual([]);
  expect(codes.size).toBeGreaterThan(2);
});

/** Puts the text into every string field, except fields with a known value. */
function oddMessage(desc: DescMessage, text: string, known: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    desc.fields.flatMap((field): [string, unknown][] => {
      if (field.fieldKind === "message" && !field.message.typeName.startsWith("google.")) {
        return [[field.localName, oddMessage(field.message, text, {})]];
      }
      const isText = field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
      return isText ? [[field.localName, known[field.localName] ?? text]] : [];
    }),
  );
}
