// What lists tell of runs and approvals, so that people can tell them apart: agent, first words, annotations, the telling argument.

import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { subjectOf } from "../../src/engine/approvals/subject.ts";
import { firstWords } from "../../src/engine/storage/first-words.ts";
import { test as base } from "../conformance/stage.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";

const { createSession, sendMessage, purgeSession } = SessionService.method;

const test = base.extend("client", ({ service }) => new GrpcClient(service.target));

describe("a list", () => {
  test("of runs has the first words and the annotations of each, until a purge", async ({ provider, client }) => {
    provider.respond(answer("one"), answer("two"));
    const long = JSON.stringify({ note: "x".repeat(1_100) });
    const sent = [
      { message: `  Write\n\nthe ${"long ".repeat(100)}`, annotations: '{"team": "billing", "n": 1.50}' },
      { message: "Again.", annotations: long },
    ];
    const sessions: string[] = [];
    for (const each of sent) {
      const { sessionId } = await client.call(createSession, { agent: { name: "editor" } });
      await client.call(sendMessage, { sessionId, ...each });
      sessions.push(sessionId);
    }
    const [second, first] = (await client.call(RunService.method.listRuns, {})).runs;
    expect(first?.inputExcerpt).toBe(`Write the ${"long ".repeat(100)}`.slice(0, 200));
    expect(first).toMatchObject({ agentName: "editor", annotations: '{"team": "billing", "n": 1.50}' });
    expect(second).toMatchObject({ inputExcerpt: "Again.", annotations: "" });
    await until("both runs to end", async () => {
      const { runs } = await client.call(RunService.method.listRuns, {});
      return runs.every(({ endTime }) => endTime !== undefined);
    });
    await client.call(purgeSession, { sessionId: sessions[0] ?? "" });
    const { run } = await client.call(RunService.method.getRun, { runId: first?.runId ?? "" });
    expect(run).toMatchObject({ inputExcerpt: "", annotations: "" });
  });

  test("of runs reads no inputs, except those of runs that an older version started", async ({
    service,
    provider,
    client,
  }) => {
    provider.respond(answer("one"));
    const { sessionId } = await client.call(createSession, { agent: { name: "editor" } });
    await client.call(sendMessage, { sessionId, message: "Read\nthis." });
    const excerptAfter = async (change: string) => {
      await query(service.databaseUrl, `update run set ${change}`);
      return (await client.call(RunService.method.listRuns, {})).runs[0]?.inputExcerpt;
    };
    expect(await excerptAfter("input_excerpt = null")).toBe("Read this.");
    expect(await excerptAfter("input_excerpt = 'Kept.', input = '\\xff'")).toBe("Kept.");
  });

  test("of approvals has the agent and the telling argument of each", async ({ provider, client }) => {
    const args = { content: "x".repeat(5_000), file_path: "notes.txt" };
    provider.respond(
      callTools({ id: "one", name: "write_file", arguments: JSON.stringify({ file_path: "a\nb.txt", content: "x" }) }),
      callTools({ id: "two", name: "write_file", arguments: JSON.stringify(args) }),
    );
    const tools = { builtin: ["write_file"], approve: ["write_file"] };
    for (const name of ["first", "second"]) {
      const { sessionId } = await client.call(createSession, { agent: { name, tools } });
      await client.call(sendMessage, { sessionId, message: "Write." });
      await until("the approval", async () => {
        const { approvals } = await client.call(ApprovalService.method.listApprovals, {});
        return approvals[0]?.agentName === name;
      });
    }
    const { approvals } = await client.call(ApprovalService.method.listApprovals, {});
    expect(approvals.map(({ agentName, subject }) => [agentName, subject])).toEqual([
      // Its path is behind what a list reads.
      ["second", "x".repeat(200)],
      ["first", "a b.txt"],
    ]);
    const { approval } = await client.call(ApprovalService.method.getApproval, {
      approvalId: approvals[1]?.approvalId ?? "",
    });
    expect(approval).toMatchObject({ agentName: "first", subject: "a b.txt" });
  });
});

describe("the subject of a request", () => {
  const requestOf = (payload: object, target?: object): string =>
    JSON.stringify({ action: 'act "payload":{"command":"no"}', ...(target && { target }), payload });

  test.for<[string, object, object | undefined, string]>([
    [
      "is the most telling argument, wherever it stands",
      { note: "x", path: "p", command: "ls -la" },
      undefined,
      "ls -la",
    ],
    ["is else the first text", { count: 1, list: ["a"], name: "Ada", more: "x" }, undefined, "Ada"],
    [
      "is not within another value",
      { deep: { command: "no" }, list: [{ command: "no" }], url: "https://a" },
      undefined,
      "https://a",
    ],
    ["is not in the target", { name: "x" }, { payload: { command: "no" } }, "x"],
    ["is empty without a text", { count: 1 }, undefined, ""],
  ])("%s", ([, payload, target, subject]) => {
    expect(subjectOf(requestOf(payload, target))).toBe(subject);
  });

  test("is a part of the argument when the request is cut anywhere", () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    fc.assert(
      fc.property(text, text, fc.nat(), (command, other, cut) => {
        const request = requestOf({ other: [other], command });
        const found = subjectOf(request.slice(0, cut % (request.length + 1)));
        const whole = command.trim().split(/\s+/).join(" ").toWellFormed();
        expect(whole.startsWith(found.replace(/\ufffd$/, "")) || found === "").toBe(true);
      }),
    );
  });

  test("is the last one of two with a name, as for those who parse the request", () => {
    expect(subjectOf('{"action":"a","payload":{"command":"safe","command":"rm -rf /"}}')).toBe("rm -rf /");
  });
});

describe("the first words of a message", () => {
  const wordsOf = (content: NonNullable<Parameters<typeof create<typeof MessageSchema>>[1]>["content"]) =>
    firstWords(
      toBinary(MessageSchema, create(MessageSchema, { role: "user", name: "Ada", ...(content && { content }) })),
    );

  test("are those of its first part with text", () => {
    const image = { type: "image_base64", imageBase64: "a".repeat(10_000), fileName: "x.png" };
    const elements = [image, { type: "text", text: "" }, { type: "text", text: " What\tis this? " }];
    expect(wordsOf({ case: "parts", value: { elements } })).toBe("What is this?");
    expect(wordsOf({ case: "parts", value: { elements: [image] } })).toBe("");
    expect(wordsOf({ case: "text", value: "é".repeat(2_000) })).toBe("é".repeat(200));
    expect(firstWords(new Uint8Array())).toBe("");
  });
});
