// The payload of each type: which data is accepted unchanged, and the messages of refused data. Numbers in brackets are those
// of the acceptance cases.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { StateUpdated_Scope } from "#gen/runnel/v1/result_pb.js";
import { contentBytesMax } from "../../../src/engine/log/content.ts";
import { stateValueBytesMax } from "../../../src/protocols/langbot/runners/limits.ts";
import { item, openIngest, toldOf } from "./reported.ts";

const said = { role: "assistant", content: "a" };

describe("accepted", () => {
  test.each<[string, string, object | string, unknown]>([
    ["a piece", "message.delta", { chunk: said }, { case: "messageDelta", value: { chunk: said } }],
    [
      "a message",
      "message.completed",
      { message: said },
      { case: "messageCompleted", value: { message: { role: "assistant", content: { case: "text", value: "a" } } } },
    ],
    [
      "state",
      "state.updated",
      '{"scope":"conversation","key":"k","value": [1.0, 9007199254740993] }',
      {
        case: "stateUpdated",
        value: { scope: StateUpdated_Scope.CONVERSATION, key: "k", value: "[1.0, 9007199254740993]" },
      },
    ],
    [
      "an action",
      "action.requested",
      { action: "message.edit", target: null, payload: { n: 1 } },
      { case: "actionRequested", value: { action: "message.edit", payload: '{"n":1}' } },
    ],
    [
      "the start of a call",
      "tool.call.started",
      '{"tool_call_id":"c","tool_name":"n","parameters":{"b": 1.0,"a":null}}',
      { case: "toolCallStarted", value: { toolCallId: "c", toolName: "n", parameters: '{"b":1.0,"a":null}' } },
    ],
    [
      "the outcome of a call",
      "tool.call.completed",
      { tool_call_id: "c", tool_name: "n", result: { x: [] }, error: null },
      { case: "toolCallCompleted", value: { toolCallId: "c", toolName: "n", result: '{"x":[]}' } },
    ],
    [
      "the failure of a call",
      "tool.call.completed",
      { tool_call_id: "c", tool_name: "n", result: null, error: "no" },
      { case: "toolCallCompleted", value: { toolCallId: "c", toolName: "n", error: "no" } },
    ],
    ["an unknown type", "my.own", '{"n": 1.0}', { case: "extension", value: { type: "my.own", json: '{"n":1.0}' } }],
    ["a type of the host's", "turn.started", {}, { case: "extension", value: { type: "turn.started", json: "{}" } }],
    ["no data at all", "my.own", "", { case: "extension", value: { type: "my.own", json: "{}" } }],
    ["data that is not an object", "my.own", "[1]", { case: "extension", value: { type: "my.own", json: "[1]" } }],
  ])("%s", (_, type, data, payload) => {
    const { results } = openIngest().take([item(7, type, data, { usage: '{"total_tokens":2}' })]);
    expect(results).toMatchObject([{ payload, runnerSequence: 7n, usage: { totalTokens: 2n } }]);
  });
});

test("an unset outcome of a call stays unset", () => {
  const data = { tool_call_id: "c", tool_name: "n", result: null };
  const [entry] = openIngest().take([item(1, "tool.call.completed", data)]).results;
  const value = entry?.payload?.case === "toolCallCompleted" ? entry.payload.value : undefined;
  expect([value?.toolName, value?.result, value?.error]).toEqual(["n", undefined, undefined]);
});

describe("invalid telemetry of tools is stored unchanged [58]", () => {
  test.each([
    ["an extra key", { tool_call_id: "c", tool_name: "n", parameters: {}, note: 1 }],
    ["a number for a name", { tool_call_id: "c", tool_name: 7, parameters: {} }],
    ["null for parameters", { tool_call_id: "c", tool_name: "n", parameters: null }],
    ["text for a result", { tool_call_id: "c", tool_name: "n", result: "ok" }],
    ["nothing", {}],
    ["a list", [], "data is a list, expected an object: kept unchanged"],
  ])("%s", (_, data, ...diagnostics) => {
    for (const type of ["tool.call.started", "tool.call.completed"]) {
      const { results, verdicts } = openIngest().take([item(1, type, data)]);
      expect(verdicts).toMatchObject([{ disposition: "telemetry", diagnostics }]);
      expect(results).toMatchObject([{ payload: { case: "extension", value: { type, json: JSON.stringify(data) } } }]);
    }
  });
});

describe("dropped", () => {
  test.each<[string, object | string, string]>([
    ["message.delta", {}, "data.chunk is missing: expected an object"],
    ["message.delta", { chunk: "a" }, "data.chunk is text: expected an object"],
    ["message.delta", { chunk: { content: "a" } }, "data.chunk.role is missing: expected text"],
    ["message.delta", { chunk: said, note: 1 }, 'data has the unknown member "note": remove it'],
    ["message.delta", "", "data.chunk is missing: expected an object"],
    ["message.completed", { message: null }, "data.message is null: expected an object"],
    ["message.completed", [], "data is a list: expected an object"],
    ["message.completed", "{", "data is not JSON: unexpected EOF"],
    ["message.completed", '{"message":NaN}', 'data is not JSON: unexpected character "N"'],
    ["message.completed", '{"message":{},"message":{}}', 'data has "message" twice: remove one'],
    ["my.own", "{]", 'data is not JSON: unexpected character "]"'],
    ["tool.call.started", "nothing", "data is not JSON"],
    ["artifact.created", {}, "data.artifact_type is missing: expected text"],
    ["artifact.created", { artifact_type: "" }, "data.artifact_type must have 1 to 255 characters"],
    ["artifact.created", { artifact_type: "a", artifact_id: "a\n" }, "data.artifact_id must have 1 to 255"],
    ["artifact.created", { artifact_type: "a", name: "a\0b" }, "data.name must have 1 to 255 characters"],
    ["artifact.created", { artifact_type: "a", metadata: [] }, "data.metadata is a list: expected an object"],
    ["artifact.created", { artifact_type: "a", size_bytes: -1 }, "data.size_bytes is a number: expected an integer"],
    ["artifact.created", { artifact_type: "a", sha256: "0f" }, "data.sha256 is not a SHA-256: expected 64"],
    ["artifact.created", { artifact_type: "a", url: "x" }, 'data has the unknown member "url"'],
    [
      "state.updated",
      { scope: "planet", key: "k", value: 1 },
      "data.scope must be one of conversation, actor, subject",
    ],
    ["state.updated", { scope: "actor", key: "k" }, "data.value is missing: expected a JSON value, which may be null"],
    ["state.updated", { scope: "actor", value: 1 }, "data.key is missing: expected text"],
    ["state.updated", { scope: "actor", key: 1, value: 1 }, "data.key is a number: expected text"],
    ["state.updated", { scope: "actor", key: "", value: 1 }, "data.key must have 1 to 255 characters"],
    ["state.updated", { scope: "actor", key: "k".repeat(256), value: 1 }, "data.key must have 1 to 255 characters"],
    ["state.updated", { scope: "actor", key: "a\nb", value: 1 }, "data.key contains a control character"],
    ["state.updated", { scope: "actor", key: "a\ud800", value: 1 }, "data.key contains half of a surrogate pair"],
    [
      "state.updated",
      { scope: "actor", key: "k", value: "\0" },
      "data.value is not JSON that can be stored: \\u0000 in the string",
    ],
    [
      "state.updated",
      { scope: "actor", key: "k", value: [{ a: "\udc00" }] },
      "data.value is not JSON that can be stored: half of a surrogate pair",
    ],
    [
      "state.updated",
      { scope: "actor", key: "k", value: { "\ud800": 1 } },
      "data.value is not JSON that can be stored: half of a surrogate pair",
    ],
    ["state.updated", '{"scope":"actor","key":"k","value":Infinity}', "data is not JSON: unexpected character"],
    ["action.requested", {}, "data.action is missing: expected text"],
    ["action.requested", { action: "a", target: "x" }, "data.target is text: expected an object"],
    ["action.requested", { action: "a", why: "x" }, 'data has the unknown member "why"'],
    ["run.completed", { message: "bye" }, "data.message is text: expected an object"],
    ["run.completed", { finish_reason: 1 }, "data.finish_reason is a number: expected text"],
    ["run.completed", { output: "" }, 'data has the unknown member "output"'],
    ["run.failed", { error: null }, "data.error is null: expected text"],
    ["run.failed", { error: "a", retryable: "no" }, "data.retryable is text: expected true or false"],
    ["run.failed", { error: "a", code: "x\ny" }, "data.code must have 1 to 255 characters"],
    ["run.failed", { error: "a", trace: [] }, 'data has the unknown member "trace"'],
  ])("%s %j", (type, data, problem) => {
    const told = toldOf(type, data);
    expect(told?.slice(0, told.indexOf(problem) + problem.length)).toBe(`dropped_invalid | ${problem}`);
  });
});

test("a long unknown name is cut in its message", () => {
  const told = toldOf("run.failed", { error: "a", ["n".repeat(100_000)]: 1 });
  expect(told).toBe(`dropped_invalid | data has the unknown member "${"n".repeat(64)}…": remove it`);
});

describe("the end of a run", () => {
  test.each<[object, object]>([
    [{}, { kind: "completed", finishReason: "stop", message: undefined }],
    [
      { finish_reason: null, message: null },
      { kind: "completed", finishReason: "stop", message: undefined },
    ],
    [{ finish_reason: "" }, { kind: "completed", finishReason: "stop" }],
    [{ finish_reason: "length" }, { kind: "completed", finishReason: "length" }],
  ])("run.completed %j", (data, end) => {
    expect(openIngest().take([item(1, "run.completed", data)]).end).toMatchObject(end);
  });

  test.each<[object, object]>([
    [{ error: "" }, { kind: "failed", error: "", code: "runner.error", retryable: false }],
    [
      { error: "a", code: "" },
      { kind: "failed", error: "a", code: "runner.error" },
    ],
    [
      { error: "a", code: null, retryable: null },
      { kind: "failed", error: "a", code: "runner.error", retryable: false },
    ],
    [
      { error: "a", code: "cancelled", retryable: true },
      { kind: "failed", error: "a", code: "cancelled", retryable: true },
    ],
  ])("run.failed %j", (data, end) => {
    expect(openIngest().take([item(1, "run.failed", data)]).end).toMatchObject(end);
  });
});

describe("state", () => {
  test("null is a value [78]", () => {
    const { effects } = openIngest().take([item(1, "state.updated", { scope: "runner", key: "k", value: null })]);
    expect(effects).toEqual([{ kind: "state", scope: "runner", key: "k", value: "null" }]);
  });

  test.each(["9007199254740993", "1", "1.0", "1e400", "-0", '{"b":1,"a":2,"b":3}', '"\\u00e9"'])(
    "%s is unchanged [86]",
    (value) => {
      const data = `{"scope":"actor","key":"k","value": ${value}\n}`;
      const { effects, results } = openIngest().take([item(1, "state.updated", data)]);
      expect(effects).toMatchObject([{ value }]);
      expect(results).toMatchObject([{ payload: { value: { value } } }]);
    },
  );

  test("the size of a value is counted in bytes, without surrounding white space [76]", () => {
    const told = (value: string) => toldOf("state.updated", `{"scope":"actor","key":"k","value":   ${value}  }`);
    const full = `"${"é".repeat((stateValueBytesMax - 2) / 2)}"`;
    expect(Buffer.byteLength(full)).toBe(262_144);
    expect(told(full)).toBe("applied");
    expect(told(full.replace('é"', 'éx"'))).toBe(
      "dropped_invalid | payload_too_large: data.value has 262145 bytes, maximum 262144: keep large data in the storage",
    );
    expect(told(`[1, ${" ".repeat(stateValueBytesMax)}2]`)).toMatch(/payload_too_large/);
  });

  test("a value may have at most a hundred levels", () => {
    const nested = (depth: number) => `{"scope":"actor","key":"k","value":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(toldOf("state.updated", nested(100))).toBe("applied");
    expect(toldOf("state.updated", nested(101))).toBe(
      "dropped_invalid | data is not JSON: nested deeper than 101 levels",
    );
  });

  test("keys are measured in characters", () => {
    expect(toldOf("state.updated", { scope: "actor", key: "😀".repeat(255), value: 1 })).toBe("applied");
    expect(toldOf("state.updated", { scope: "actor", key: "😀".repeat(256), value: 1 })).toMatch(/^dropped_invalid/);
  });
});

describe("artifacts", () => {
  const content = Buffer.from("hello");
  const sha256 = createHash("sha256").update(content).digest("hex");

  test("content is checked, hashed and stored separately from the log", () => {
    const data = {
      artifact_type: "file",
      artifact_id: "mine",
      mime_type: "text/plain",
      name: "a.txt",
      metadata: { n: 1 },
      size_bytes: 5,
      sha256: sha256.toUpperCase(),
      content_base64: content.toString("base64"),
    };
    const { effects, results } = openIngest().take([item(1, "artifact.created", data)]);
    const told = { artifactId: "mine", mimeType: "text/plain", name: "a.txt", sha256, metadata: '{"n":1}' };
    expect(effects).toMatchObject([{ kind: "artifact", type: "file", sizeBytes: 5, ...told }]);
    expect(effects[0]?.kind === "artifact" && Buffer.from(effects[0].content ?? []).toString()).toBe("hello");
    expect(results[0]?.payload).toMatchObject({
      case: "artifactCreated",
      value: { artifactType: "file", sizeBytes: 5n, ...told },
    });
    expect(results[0]?.payload?.value).not.toHaveProperty("contentBase64");
  });

  test("an artifact without content has the runner's size and hash, and an id of the host [94]", () => {
    const unset = { artifact_id: "", mime_type: "", name: null, content_base64: null };
    const data = { artifact_type: "file", size_bytes: 9, sha256, ...unset };
    const { effects, results } = openIngest().take([item(1, "artifact.created", data)]);
    expect(effects).toEqual([
      {
        kind: "artifact",
        artifactId: "made-1",
        type: "file",
        mimeType: undefined,
        name: undefined,
        sizeBytes: 9,
        sha256,
        metadata: "{}",
        content: undefined,
      },
    ]);
    expect(results[0]?.payload?.value).toMatchObject({ artifactId: "made-1" });
  });

  test("content may be empty", () => {
    const { effects } = openIngest().take([item(1, "artifact.created", { artifact_type: "f", content_base64: "" })]);
    expect(effects).toMatchObject([{ sizeBytes: 0, content: Buffer.alloc(0) }]);
  });

  test.each(["a", "ab=", "=", "====", "a===", "aGVs bG8=", "aGVsbG8=\n", "aGVsbG8", "_-8=", "aGVsb(8=", "a=bc"])(
    "%j is not base64 [88]",
    (text) => {
      expect(toldOf("artifact.created", { artifact_type: "f", content_base64: text })).toBe(
        "dropped_invalid | data.content_base64 is not base64: expected the standard alphabet with padding and no blanks",
      );
    },
  );

  test("inline content is limited to 1 MiB, decoded", () => {
    const told = (bytes: number) => {
      const text = Buffer.alloc(bytes).toString("base64");
      return toldOf("artifact.created", { artifact_type: "f", content_base64: text });
    };
    expect(told(contentBytesMax)).toBe("applied");
    expect(told(contentBytesMax + 1)).toBe(
      "dropped_invalid | payload_too_large: data.content_base64 has 1048577 bytes, maximum 1048576: store large content elsewhere",
    );
  });

  test("a size or hash that does not match the content is refused", () => {
    const base = { artifact_type: "f", content_base64: content.toString("base64") };
    expect(toldOf("artifact.created", { ...base, size_bytes: 4 })).toBe(
      "dropped_invalid | data.size_bytes is 4, but the content has 5",
    );
    expect(toldOf("artifact.created", { ...base, sha256: "0".repeat(64) })).toBe(
      `dropped_invalid | data.sha256 does not match the content, which has ${sha256}`,
    );
  });
});
