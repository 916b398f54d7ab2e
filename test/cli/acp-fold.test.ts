// What an editor gets of logs: texts that begin again, calls that are void, ends of every kind.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ModelError_Cause, PlanEntry_Status, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { dropVoid, RunFold } from "../../src/cli/acp/fold.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

const turn = (number: number): Payload => ({ case: "turnStarted", value: { turn: number } });
const text = (content: string, replacesText = false): Payload => ({
  case: "messageDelta",
  value: { chunk: { content, replacesText } },
});
const whole = (value: string): Payload => ({
  case: "messageCompleted",
  value: { message: { role: "assistant", content: { case: "text", value } } },
});
const again = (fromSequence: number): Payload => ({
  case: "turnRestarted",
  value: { turn: 1, fromSequence: BigInt(fromSequence) },
});
const call = (toolName: string, parameters: object): Payload => ({
  case: "toolCallStarted",
  value: { toolCallId: "c", toolName, parameters: JSON.stringify(parameters) },
});
const failed = (value: object): Payload => ({ case: "runFailed", value: { code: "runner.error", ...value } });

function logOf(payloads: readonly Payload[]) {
  return payloads.map((payload, index) => create(RunResultSchema, { sequence: BigInt(index + 1), payload }));
}

test.each<[what: string, log: Payload[], shown: string[]]>([
  ["a text without pieces", [whole("Paris")], ["Paris"]],
  ["the rest of a text", [text("Par"), whole("Paris")], ["Par", "is"]],
  ["a whole text that differs", [text("Rome"), whole("Paris")], ["Rome", "| Paris"]],
  ["a text that its runner revises", [text("Rome"), text("Paris", true), whole("Paris")], ["Rome", "| Paris"]],
  ["two messages", [text("One"), whole("One"), text("One"), whole("One")], ["One", "| One"]],
  [
    "a turn that says the same again",
    [turn(1), text("Par"), again(1), turn(1), text("Pa"), text("ris")],
    ["Par", "is"],
  ],
  ["a turn that dies while it is silent", [text("Par"), again(1), text("P"), again(1), text("Paris")], ["Par", "is"]],
  ["a turn that says something else", [text("Par"), again(1), text("P"), text("eru")], ["Par", "| Peru"]],
  ["a turn that says less", [text("Paris"), again(1), text("Par"), whole("Par")], ["Paris", "| Par"]],
  ["the next turn of the same words", [turn(1), text("Hi"), whole("Hi"), turn(2), text("Hi")], ["Hi", "| Hi"]],
])("%s", (_, payloads, shown) => {
  const fold = new RunFold("run", undefined);
  const updates = logOf(payloads).flatMap((result) => fold.take(result));
  let last: unknown;
  const pieces = updates.flatMap((update) => {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") {
      return [];
    }
    const isNew = last !== undefined && last !== update.messageId;
    last = update.messageId;
    return [`${isNew ? "| " : ""}${update.content.text}`];
  });
  expect(pieces).toEqual(shown);
});

test("a reader of an old log gets nothing that is void", () => {
  const fold = new RunFold("run", undefined);
  const kept = dropVoid(logOf([turn(1), text("Rome"), again(1), turn(1), text("Par"), again(4), text("Paris")]));
  expect(kept.flatMap((result) => fold.take(result))).toMatchObject([{ content: { text: "Paris" } }]);
});

test("a call of a void turn ends as failed; progress, pictures and paths of a call are shown, and a plan", () => {
  const fold = new RunFold("run", "/project");
  const png = { type: "image", mime_type: "image/png", data: "AA==" };
  const result = JSON.stringify({ content: "done", media: [png] });
  const log = logOf([
    call("edit_file", { file_path: "a/b.ts", old_string: "1", new_string: "2" }),
    again(1),
    call("bash", { command: "ls" }),
    { case: "toolCallProgress", value: { toolCallId: "c", message: "half" } },
    { case: "childRunStarted", value: { toolCallId: "c", toolName: "bash", runId: "child" } },
    { case: "toolCallCompleted", value: { toolCallId: "c", toolName: "bash", result } },
    { case: "planUpdated", value: { entries: [{ text: "Read", status: PlanEntry_Status.IN_PROGRESS }] } },
    { case: "artifactCreated", value: { artifactType: "image", mimeType: "image/png", contentBase64: "AA==" } },
  ]);
  const path = "/project/a/b.ts";
  const image = { type: "image", mimeType: "image/png", data: "AA==" };
  expect(log.flatMap((each) => fold.take(each))).toMatchObject([
    { kind: "edit", locations: [{ path }], content: [{ type: "diff", path, oldText: "1", newText: "2" }] },
    { toolCallId: "run.c", status: "failed" },
    { kind: "execute", title: "bash ls", rawInput: { command: "ls" }, status: "in_progress" },
    { content: [{ content: { text: "half" } }] },
    {
      toolCallId: "run.c",
      content: [{ content: { text: "Works as run child." } }],
      _meta: { "runnel.dev/run_id": "child" },
    },
    { status: "completed", content: [{ content: { text: "done" } }, { content: image }] },
    { sessionUpdate: "plan", entries: [{ content: "Read", status: "in_progress", priority: "medium" }] },
    { sessionUpdate: "agent_message_chunk", content: image },
  ]);
});

test.each<[end: Payload, stop: string | undefined]>([
  [{ case: "runCompleted", value: { finishReason: "stop" } }, "end_turn"],
  [{ case: "runCompleted", value: { finishReason: "length" } }, "max_tokens"],
  [failed({ code: "cancelled" }), "cancelled"],
  [failed({ modelError: { cause: ModelError_Cause.CONTENT_FILTER } }), "refusal"],
  [failed({ error: "agent reached maximum turn limit (3)" }), "max_turn_requests"],
  [failed({ error: "other" }), undefined],
])("%o ends a prompt with %s", (payload, stop) => {
  const fold = new RunFold("run", undefined);
  logOf([payload]).flatMap((result) => fold.take(result));
  expect(fold.end && "stopReason" in fold.end ? fold.end.stopReason : undefined).toBe(stop);
});
