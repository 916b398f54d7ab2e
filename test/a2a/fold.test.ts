// What a task holds of a log, and what a reader of its stream holds: always the same.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type Part, type StreamResponse, TaskState } from "#gen/lf/a2a/v1/a2a_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { TaskFold } from "../../src/surfaces/a2a/fold.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

const delta = (content: string, rest: object = {}): Payload => ({
  case: "messageDelta",
  value: { chunk: { role: "assistant", content, ...rest } },
});
const said = (value: string): Payload => ({
  case: "messageCompleted",
  value: { message: { role: "assistant", content: { case: "text", value } } },
});
const end = (output: string): Payload => ({ case: "runCompleted", value: { output } });
const failure = (code: string): Payload => ({ case: "runFailed", value: { code, error: "why" } });
const restart = (fromSequence: bigint): Payload => ({ case: "turnRestarted", value: { turn: 1, fromSequence } });
const asked: Payload = { case: "approvalRequested", value: { toolName: "bash", approvalId: "a", digest: "d" } };
const file: Payload = {
  case: "artifactCreated",
  value: { artifactType: "file", name: "a.bin", contentBase64: "AAE=" },
};
const waiting: Payload = { case: "runWaiting", value: { reason: "approval: bash" } };

type Case = readonly [
  story: string,
  log: readonly Payload[],
  texts: readonly string[],
  state: TaskState,
  asksByWaiting?: boolean,
];

const cases: readonly Case[] = [
  ["pieces", [delta("one "), delta("two"), said("one two"), end("one two")], ["one two"], TaskState.COMPLETED],
  ["a message without pieces", [said("one"), end("one")], ["one"], TaskState.COMPLETED],
  ["two messages", [said("one"), delta("two"), said("two"), end("two")], ["one", "two"], TaskState.COMPLETED],
  ["an end with more than its pieces", [delta("one"), end("one two")], ["one two"], TaskState.COMPLETED],
  ["an end with another text", [delta("thinking"), end("done")], ["thinking", "done"], TaskState.COMPLETED],
  ["an end alone", [end("done")], ["done"], TaskState.COMPLETED],
  [
    "pieces that replace",
    [delta("on"), delta("one", { replacesText: true }), end("one")],
    ["one"],
    TaskState.COMPLETED,
  ],
  ["a last piece", [delta("one", { isFinal: true }), delta("two"), end("two")], ["one", "two"], TaskState.COMPLETED],
  ["a turn again", [delta("void"), restart(1n), delta("on"), delta("e"), end("one")], ["one"], TaskState.COMPLETED],
  [
    "a turn again in part",
    [delta("one"), delta("x"), restart(2n), delta("!"), end("one!")],
    ["one!"],
    TaskState.COMPLETED,
  ],
  ["a turn again that fails", [said("void"), restart(1n), failure("x")], [], TaskState.FAILED],
  ["a file", [file, end("")], ["file"], TaskState.COMPLETED],
  ["a question", [delta("one"), asked, waiting], ["one"], TaskState.AUTH_REQUIRED],
  ["an answered question", [asked, waiting, delta("one")], ["one"], TaskState.WORKING],
  ["a cancel", [failure("cancelled")], [], TaskState.CANCELED],
  ["a task that is declined", [failure("rejected")], [], TaskState.REJECTED],
  ["nothing", [], [], TaskState.SUBMITTED],
  ["a wait", [delta("one"), waiting], ["one"], TaskState.WORKING],
  ["a wait for a text", [delta("one"), waiting], ["one"], TaskState.INPUT_REQUIRED, true],
  ["a text that came", [waiting, delta("one"), end("one")], ["one"], TaskState.COMPLETED, true],
  ["an approval in a run that asks for texts", [asked, waiting], [], TaskState.AUTH_REQUIRED, true],
];

test.each(
  cases.map(([story, log, texts, state, asksByWaiting = false]) => [story, log, texts, state, asksByWaiting] as const),
)("%s", (_, log, texts, state, asksByWaiting) => {
  const fold = new TaskFold({ taskId: "t", contextId: "c", createTime: undefined, history: [], asksByWaiting });
  const reader = new Reader();
  for (const [index, payload] of log.entries()) {
    for (const event of fold.take(create(RunResultSchema, { sequence: BigInt(index + 1), payload }))) {
      reader.take(event);
    }
  }
  expect(fold.task.artifacts.map(({ parts }) => print(parts))).toEqual(texts);
  expect(reader.texts).toEqual(texts);
  expect([fold.state, reader.state]).toEqual([state, state]);
});

const child = (toolCallId: string): Payload => ({
  case: "childRunStarted",
  value: { toolCallId, toolName: "worker", runId: `run of ${toolCallId}` },
});
const answered = (toolCallId: string): Payload => ({ case: "toolCallCompleted", value: { toolCallId, result: "{}" } });
const handoff: Payload = { case: "handoffCompleted", value: { fromAgent: "desk", toAgent: "billing" } };

/** The messages of statuses in their order: state, texts, tasks. */
const stories: readonly (readonly [string, readonly Payload[], readonly unknown[], readonly unknown[]])[] = [
  [
    "child runs are tasks that statuses refer to",
    [child("a"), child("b"), answered("a"), answered("b"), end("x")],
    [
      [TaskState.WORKING, "worker works on task run of a.", ["run of a"]],
      [TaskState.WORKING, "worker works on task run of b.", ["run of b"]],
      [TaskState.WORKING, "", []],
      [TaskState.COMPLETED, "", []],
    ],
    [["run of a"], ["run of b"]],
  ],
  [
    "an open question stays the status",
    [asked, child("a"), waiting],
    [[TaskState.AUTH_REQUIRED, "Approval a is needed for bash: decide it with the service's ApprovalService.", []]],
    [["run of a"]],
  ],
  [
    "a handoff is told",
    [handoff, end("x")],
    [
      [TaskState.WORKING, "desk has handed over to billing.", []],
      [TaskState.COMPLETED, "", []],
    ],
    [[]],
  ],
];

test.each(stories)("%s", (_, log, statuses, history) => {
  const fold = new TaskFold({
    taskId: "t",
    contextId: "c",
    createTime: undefined,
    history: [],
    asksByWaiting: false,
  });
  const told: unknown[] = [];
  for (const [index, payload] of log.entries()) {
    for (const event of fold.take(create(RunResultSchema, { sequence: BigInt(index + 1), payload }))) {
      const status = event.payload.case === "statusUpdate" ? event.payload.value.status : undefined;
      const [part] = status?.message?.parts ?? [];
      const text = part?.content.case === "text" ? part.content.value : "";
      told.push(...(status === undefined ? [] : [[status.state, text, status.message?.referenceTaskIds ?? []]]));
    }
  }
  expect(told).toEqual(statuses);
  expect(fold.task.history.map(({ referenceTaskIds }) => referenceTaskIds)).toEqual(history);
  expect(new Set(fold.task.history.map(({ messageId }) => messageId)).size).toBe(history.length);
});

/** What a client makes of a stream. */
class Reader {
  readonly #artifacts = new Map<string, string>();
  state = TaskState.SUBMITTED;

  get texts(): readonly string[] {
    return [...this.#artifacts.values()].filter((text) => text !== "");
  }

  take({ payload }: StreamResponse): void {
    if (payload.case === "statusUpdate") {
      this.state = payload.value.status?.state ?? TaskState.UNSPECIFIED;
    } else if (payload.case === "artifactUpdate") {
      const { artifact, append } = payload.value;
      const { artifactId = "", parts = [] } = artifact ?? {};
      expect(append).toBe(append && this.#artifacts.has(artifactId));
      expect(parts.length).toBeGreaterThan(0);
      this.#artifacts.set(artifactId, (append ? (this.#artifacts.get(artifactId) ?? "") : "") + print(parts));
    }
  }
}

function print(parts: readonly Part[]): string {
  return parts.map(({ content }) => (content.case === "text" ? content.value : "file")).join("");
}
