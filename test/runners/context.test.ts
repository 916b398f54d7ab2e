// The context of a run as runners get it, in the JSON of each era.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import type { AgentEventSchema } from "#gen/runnel/runner/v1/event_pb.js";
import { firstCharacters } from "../../src/platform/base/first-characters.ts";
import { buildContext, type ContextParts } from "../../src/protocols/langbot/runners/context.ts";
import { type Era, eras, printContext } from "../../src/protocols/langbot/runners/era.ts";
import { inputMessage, inputText } from "../../src/protocols/langbot/runners/event-message.ts";
import { decide, fullEvent, type GrantCase } from "./granted.ts";
import { manifestOf } from "./manifests.ts";

const newId = () => "artifact-1";
const past = { eventSeq: 7, itemSeq: 12, hasHistoryBefore: true, latestCursor: "cursor" };

async function contextOf(asked: GrantCase = {}, parts: Partial<ContextParts> = {}) {
  const { event, binding, scope, authorized } = await decide(asked);
  return buildContext({
    runId: "run-1",
    event,
    binding,
    scope,
    authorized,
    state: {},
    past: scope.conversationId === undefined ? undefined : past,
    deadlineMs: 1_500_250,
    traceId: undefined,
    hostVersion: "1.2.3",
    ...parts,
  });
}

async function jsonOf(era: Era, asked: GrantCase = {}, parts: Partial<ContextParts> = {}) {
  return JSON.parse(printContext(await contextOf(asked, parts), era));
}

const saying = (input: MessageInitShape<typeof AgentEventSchema>["input"]) => ({
  event: { ...fullEvent, ...(input !== undefined && { input }) },
});

test("a context of the document has all of its parts", async () => {
  const event = {
    ...fullEvent,
    source: "telegram",
    sourceEventType: "Message",
    eventTime: 1_700_000_000n,
    launcherType: "group",
    launcherId: "g-1",
    rawRef: { refId: "raw-1" },
    data: '{"n":1}',
    trigger: { type: "message.received", source: "platform", timestamp: 1_700_000_001n },
    input: { text: "hello", contents: ['{"type":"text","text":"hello"}'] },
    delivery: { surface: "telegram", supportsStreaming: true, maxMessageSize: 4_096n, replyTarget: '{"id":5}' },
    adapterExtra: '{"params":{"a":1}}',
  };
  const manifest = manifestOf({
    permissions: { models: ["invoke"], history: ["page"] },
    config_schema: [{ type: "llm-model-selector", name: "model" }],
  });
  const binding = { runnerConfig: '{"model":"llm-config"}', resourcePolicy: {} };
  expect(await jsonOf("spec", { event, manifest, binding })).toEqual({
    run_id: "run-1",
    trigger: { type: "message.received", source: "platform", timestamp: 1_700_000_001 },
    event: {
      event_id: "e-1",
      event_type: "message.received",
      event_time: 1_700_000_000,
      source: "telegram",
      source_event_type: "Message",
      raw_ref: { ref_id: "raw-1" },
      data: { n: 1 },
    },
    conversation: {
      conversation_id: "talk",
      thread_id: "thread",
      launcher_type: "group",
      launcher_id: "g-1",
      bot_id: "bot",
      workspace_id: "space",
    },
    actor: { actor_type: "user", actor_id: "ada" },
    subject: { subject_type: "message", subject_id: "m-1" },
    input: { text: "hello", contents: [{ type: "text", text: "hello" }] },
    delivery: {
      surface: "telegram",
      reply_target: { id: 5 },
      supports_streaming: true,
      max_message_size: 4_096,
    },
    resources: {
      models: [{ model_id: "llm-config", model_type: "llm", provider: "p", operations: ["invoke"] }],
      tools: [],
      knowledge_bases: [],
      skills: [],
      storage: { plugin_storage: false, workspace_storage: false },
    },
    context: {
      conversation_id: "talk",
      thread_id: "thread",
      latest_cursor: "cursor",
      event_seq: 7,
      transcript_seq: 12,
      has_history_before: true,
      inline_policy: { mode: "current_event", delivered_count: 0, messages_complete: false },
      available_apis: {
        history_page: true,
        history_search: false,
        event_get: false,
        event_page: false,
        state: true,
        storage: false,
      },
    },
    state: { conversation: { "external.conversation_id": "talk" }, actor: {}, subject: {}, runner: {} },
    runtime: {
      langbot_version: "1.2.3",
      trace_id: "run-1",
      deadline_at: 1_500.25,
      metadata: {
        streaming_supported: true,
        bot_id: "bot",
        workspace_id: "space",
        model_context_window_tokens: 1_000,
      },
    },
    config: { model: "llm-config" },
    adapter: { extra: { params: { a: 1 } } },
    metadata: {},
  });
});

test("the context of a minimal event has the required members", async () => {
  const event = { eventId: "e", eventType: "schedule.triggered" };
  const context = await jsonOf("spec", { event, manifest: manifestOf(), binding: { resourcePolicy: {} } });
  expect(context).toMatchObject({
    trigger: { type: "schedule.triggered", source: "api" },
    event: { event_id: "e", event_type: "schedule.triggered", source: "api", data: {} },
    input: {},
    delivery: { surface: "api" },
    context: { has_history_before: false, inline_policy: { mode: "current_event" } },
    state: { conversation: {}, actor: {}, subject: {}, runner: {} },
  });
  for (const key of ["conversation", "actor", "subject", "adapter"]) {
    expect(context).not.toHaveProperty(key);
  }
  expect(context.context).not.toHaveProperty("latest_cursor");
});

test("the trace id is the caller's if it sent one", async () => {
  const { runtime } = await jsonOf("spec", {}, { traceId: "0af7651916cd43dd8448eb211c80319c" });
  expect(runtime.trace_id).toBe("0af7651916cd43dd8448eb211c80319c");
});

describe("numbers and free JSON", () => {
  const free = '{"big":9007199254740993,"one":1,"float":1.0,"small":1e-7,"deep":[{"a":null}],"twice":2,"twice":3}';

  test.each(eras)("are unchanged in the era %s", async (era) => {
    const event = {
      ...fullEvent,
      data: free,
      adapterExtra: free,
      actor: { actorType: "user", actorId: "ada", metadata: free },
      input: { contents: [free] },
    };
    const state = { runner: [{ key: "k", value: free }] };
    const text = printContext(await contextOf({ event, binding: { runnerConfig: free } }, { state }), era);
    expect(text.split(free).length - 1).toBe(6);
  });
});

describe("the state", () => {
  test("is the stored one, with the conversation's id as default of external.conversation_id", async () => {
    const kept = { key: "external.conversation_id", value: '"theirs"' };
    const state = { conversation: [{ key: "a", value: "[1.0]" }], actor: [{ key: "__proto__", value: "{}" }] };
    const text = printContext(await contextOf({}, { state }), "spec");
    expect(text).toContain(
      '"state":{"conversation":{"external.conversation_id":"talk","a":[1.0]},"actor":{"__proto__":{}}',
    );
    const { state: own } = await jsonOf("spec", {}, { state: { conversation: [kept] } });
    expect(own.conversation).toEqual({ "external.conversation_id": "theirs" });
  });

  test("has nothing of the conversation when that scope is not granted", async () => {
    const { state } = await jsonOf("spec", { binding: { statePolicy: { stateScopes: ["actor"] } } });
    expect(state.conversation).toEqual({});
  });
});

describe("eras differ", () => {
  test("in the available APIs", async () => {
    const keysOf = async (era: Era) => Object.keys((await jsonOf(era)).context.available_apis);
    const shared = ["history_page", "history_search", "event_get", "event_page"];
    const artifacts = ["artifact_metadata", "artifact_read"];
    expect(await keysOf("spec")).toEqual([...shared, ...artifacts, "state", "storage"]);
    expect(await keysOf("ledger")).toEqual([...shared, ...artifacts, "state", "storage", "run_get"]);
    expect(await keysOf("4.11")).toEqual([...shared, "state", "storage", "run_get"]);
  });

  test("in files, in the parameters of tools and in the names of operations", async () => {
    for (const era of ["spec", "ledger"] as const) {
      const { resources } = await jsonOf(era);
      expect(resources.files.map((file: { file_id: string }) => file.file_id)).toEqual([
        "faq.txt",
        "one.txt",
        "two.txt",
      ]);
      expect(resources.tools).toEqual([{ tool_name: "tool-a", description: "does", operations: ["detail", "call"] }]);
      expect(resources.models[0].operations).toEqual(["invoke", "stream"]);
    }
    const { resources } = await jsonOf("4.11");
    expect(resources).not.toHaveProperty("files");
    expect(resources.tools[0].parameters).toEqual({ type: "object" });
    expect(resources.models[0].operations).toEqual(["invoke", "stream", "count_tokens"]);
  });

  test("in attachments: references to artifacts with an id, or the plain objects without one", async () => {
    const asked = saying({
      attachments: [
        '{"artifact_id":"a-1","artifact_type":"image","size":1.0,"extra":1}',
        '{"type":"file","url":"https://files.test/x","id":"f-2"}',
        '{"name":"x"}',
      ],
    });
    const refs = [
      { artifact_id: "a-1", artifact_type: "image", size: 1, extra: 1 },
      { artifact_id: "f-2", artifact_type: "file", url: "https://files.test/x", id: "f-2" },
      { artifact_id: "attachment-3", name: "x" },
    ];
    expect((await jsonOf("spec", asked)).input.attachments).toEqual(refs);
    expect((await jsonOf("ledger", asked)).input.attachments).toEqual(refs);
    const text = printContext(await contextOf(asked), "4.11");
    expect(text).toContain(
      '"attachments":[{"id":"a-1","type":"image","size":1.0},{"type":"file","url":"https://files.test/x","id":"f-2"},{"name":"x"}]',
    );
  });

  test("in output only: printing for one era leaves the context unchanged", async () => {
    const context = await contextOf(saying({ attachments: ['{"type":"file"}'] }));
    const before = printContext(context, "4.11");
    printContext(context, "spec");
    expect(printContext(context, "4.11")).toBe(before);
  });
});

describe("the input of an event", () => {
  const inputOf = async (input: MessageInitShape<typeof AgentEventSchema>["input"]) =>
    (await decide(saying(input))).event.input;

  test("has as text its own text, or that of its text parts", async () => {
    expect(inputText(await inputOf({ text: "a", contents: ['{"type":"text","text":"b"}'] }))).toBe("a");
    const parts = [
      '{"type":"text","text":"b"}',
      '{"type":"image_url","text":"no"}',
      '{"type":"text","text":"c"}',
      "{}",
    ];
    expect(inputText(await inputOf({ contents: parts }))).toBe("bc");
    expect(inputText(undefined)).toBe("");
  });

  test("is stored completely, with its parts unchanged", async () => {
    const jsonOf = async (input: Parameters<typeof inputOf>[0]) => inputMessage(await inputOf(input), newId)?.json;
    expect(await jsonOf({ text: 'say "a"' })).toBe('{"role":"user","content":"say \\"a\\""}');
    const text = '{"type":"text","text":"a"}';
    const contents = [text, '{ "type": "odd", "n": 9007199254740993 }'];
    expect(await jsonOf({ text: "a", contents, attachments: ['{"id":"f"}'] })).toBe(
      `{"role":"user","content":[${text},{"type":"odd","n":9007199254740993}],"attachments":[{"id":"f"}]}`,
    );
    expect(await jsonOf({ text: "a", contents: ['{"type":"odd"}'] })).toBe(
      `{"role":"user","content":[${text},{"type":"odd"}]}`,
    );
    expect(await jsonOf({ attachments: ['{"id":"f"}'] })).toBe(
      '{"role":"user","content":"","attachments":[{"id":"f"}]}',
    );
    expect(await jsonOf({ text: "" })).toBeUndefined();
    expect(inputMessage(undefined, newId)).toBeUndefined();
  });

  test("is cut between characters, never within one", () => {
    expect(firstCharacters("abc", 3)).toBe("abc");
    expect(firstCharacters("abcd", 3)).toBe("abc");
    expect(firstCharacters("a😀b😀c", 4)).toBe("a😀b😀");
    expect(firstCharacters("😀".repeat(5), 3)).toBe("😀😀😀");
  });
});
