// Numbers, terminal results, policy and limits: the acceptance cases of the LangBot protocol that need no database. Numbers in
// brackets are those of the cases.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { ReportedResult } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { reportedBytesMax } from "../../../src/protocols/langbot/runners/results/report.ts";
import { isPlain } from "../../../src/protocols/langbot/runners/results/verdict.ts";
import { item, message, openIngest, piece, runId, told, toldOf } from "./reported.ts";

test("the same body with other white space is not a conflict", () => {
  const spaced = ' {"chunk" : {"role":"assistant", "content":"a"}} ';
  const outcome = openIngest().take([piece(1, "a"), item(1, "message.delta", spaced)]);
  expect(told(outcome)).toEqual(["applied", "dropped_duplicate"]);
});

test.each([
  ["type", item(1, "other", { chunk: { role: "assistant", content: "a" } })],
  ["usage", item(1, "message.delta", { chunk: { role: "assistant", content: "a" } }, { usage: "{}" })],
])("a repetition with another %s is a conflict", (_, other) => {
  expect(told(openIngest().take([piece(1, "a"), other]))).toEqual(["applied", "dropped_duplicate | conflict"]);
});

test.each([0, -1, 2 ** 31])("the number %i, which the API refuses, is dropped and not counted [47]", (number) => {
  const ingest = openIngest();
  expect(told(ingest.take([piece(number, "a")]))[0]).toMatch(/^dropped_invalid \| sequence is not from 1 /);
  expect(told(ingest.take([piece(1, "a")]))).toEqual(["applied"]);
});

test("the largest number counts", () => {
  const outcome = openIngest().take([piece(2 ** 31 - 1, "a"), piece(2 ** 31 - 1, "a")]);
  expect(told(outcome)).toEqual([`applied | gap 1-${2 ** 31 - 2}`, "dropped_duplicate"]);
});

test("a result that names its own run is applied", () => {
  const outcome = openIngest().take([item(1, "tool.x", {}, { runId })]);
  expect(outcome.verdicts[0]?.disposition).toBe("ignored_unknown");
});

test("a piece without the streaming capability is delivered, with one warning per run [68]", () => {
  const ingest = openIngest({ grant: { announcesStreaming: false } });
  const outcome = ingest.take([piece(1, "a"), piece(2, "b")]);
  expect(told(outcome)).toEqual(["applied | the manifest does not announce streaming: set its capability", "applied"]);
  expect(outcome.results).toHaveLength(2);
});

test("a result that is too large is dropped, and its neighbours are applied [70]", () => {
  const data = (bytes: number) => {
    const frame = JSON.stringify({ chunk: { role: "assistant", content: "" } }).length + "message.delta".length;
    return piece(2, "x".repeat(bytes - frame));
  };
  const ingest = openIngest();
  const outcome = ingest.take([piece(1, "a"), data(reportedBytesMax + 1), piece(3, "c")]);
  expect(told(outcome)).toEqual([
    "applied",
    "dropped_invalid | payload_too_large: the result has 2097153 bytes: maximum 2097152",
    "applied",
  ]);
  expect(told(openIngest().take([piece(1, "a"), data(reportedBytesMax)]))).toEqual(["applied", "applied"]);
});

test("type and usage count towards the size of a result, in bytes", () => {
  const usage = JSON.stringify({ note: "é".repeat(reportedBytesMax / 2) });
  expect(told(openIngest().take([item(1, "x", {}, { usage })]))[0]).toMatch(/payload_too_large/);
});

test("missing figures of usage stay unset [72]", () => {
  const [none, some, empty] = openIngest().take([
    piece(1, "a"),
    item(2, "x", {}, { usage: '{"prompt_tokens":3,"total_tokens":null,"cost":{"usd":1}}' }),
    item(3, "x", {}, { usage: "{}" }),
  ]).results;
  expect(none?.usage).toBeUndefined();
  expect(some?.usage).toMatchObject({ promptTokens: 3n });
  expect(some?.usage?.completionTokens).toBeUndefined();
  expect(some?.usage?.totalTokens).toBeUndefined();
  expect(empty?.usage).toBeUndefined();
});

test.each([
  ['{"prompt_tokens":-1}', "usage.prompt_tokens is a number: expected an integer from 0 to 9007199254740991"],
  ['{"prompt_tokens":1.5}', "usage.prompt_tokens is a number: expected an integer from 0 to 9007199254740991"],
  ['{"total_tokens":"3"}', "usage.total_tokens is text: expected an integer from 0 to 9007199254740991"],
  ["[]", "usage is a list: expected an object"],
  ["{", "unexpected EOF"],
])("usage %s is left out, and its result is applied", (usage, problem) => {
  const outcome = openIngest().take([item(1, "action.requested", { action: "a" }, { usage })]);
  expect(told(outcome)).toEqual([`telemetry | usage left out: ${problem}`]);
  expect(outcome.results[0]).not.toHaveProperty("usage");
});

test("state in a scope that is not granted is refused, and its number counts [74]", () => {
  const ingest = openIngest({ grant: { stateScopes: ["conversation"] } });
  const outcome = ingest.take([item(1, "state.updated", { scope: "actor", key: "k", value: 1 }), piece(2, "a")]);
  expect(told(outcome)).toEqual(["refused_policy | state of scope actor is not granted to this run", "applied"]);
  expect(outcome.effects).toEqual([]);
});

test.each(["actor", "subject", "conversation"])("state of the %s is dropped when the event has none [75]", (of) => {
  const changes = { scope: { actor: undefined, subject: undefined, conversationId: undefined } };
  const data = { scope: of, key: "k", value: 1 };
  expect(toldOf("state.updated", data, changes)).toBe(`dropped_invalid | event has no ${of}`);
});

test("pieces are refused when the binding does not allow their delivery", () => {
  const changes = { grant: { delivery: { streaming: false, reply: true } } };
  const outcome = openIngest(changes).take([piece(1, "a"), message(2, "b")]);
  expect(told(outcome)).toEqual([
    "refused_policy | the binding does not allow the delivery of message chunks",
    "applied",
  ]);
});

test("messages are refused when the binding does not allow their delivery, even in the terminal result", () => {
  const changes = { grant: { delivery: { streaming: true, reply: false } } };
  const end = item(3, "run.completed", { message: { role: "assistant", content: "b" } });
  const outcome = openIngest(changes).take([piece(1, "a"), message(2, "b"), end]);
  const refusal = "the binding does not allow the delivery of messages";
  expect(told(outcome)).toEqual(["applied", `refused_policy | ${refusal}`, `applied | message left out: ${refusal}`]);
  expect(outcome.end).toMatchObject({ kind: "completed", message: undefined });
  expect(outcome.effects).toEqual([]);
});

test("the maximum message length is in characters, and pieces up to the next message count together", () => {
  const changes = { grant: { delivery: { streaming: true, reply: true, messageCharsMax: 3 } } };
  const outcome = openIngest(changes).take([
    message(1, "😀😀😀"),
    message(2, "1234"),
    piece(3, "😀😀"),
    piece(4, "12"),
    piece(5, "1"),
    message(6, "abc"),
    piece(7, "123"),
  ]);
  const refused = "refused_policy | the message has 4 characters: the binding allows 3";
  expect(told(outcome)).toEqual(["applied", refused, "applied", refused, "applied", "applied", "applied"]);
});

test("text that the runner repeats counts once towards the maximum message length", () => {
  const changes = { grant: { delivery: { streaming: true, reply: true, messageCharsMax: 6 } } };
  const outcome = openIngest(changes).take([
    piece(1, "abc"),
    piece(2, "abcde"),
    piece(3, "abcdef"),
    piece(4, "abcdefg"),
  ]);
  const refused = "refused_policy | the message has 7 characters: the binding allows 6";
  expect(told(outcome)).toEqual(["applied", "applied", "applied", refused]);
});

test("text that the runner repeats counts once towards the bytes of a run", () => {
  const text = "All of this comes again. ".repeat(400);
  const snapshots = Array.from({ length: 100 }, (_, index) => piece(index + 1, text.slice(0, (index + 1) * 100)));
  const outcome = openIngest({ limits: { bytesMax: 40_000 } }).take([...snapshots, item(101, "run.completed")]);
  expect(new Set(told(outcome))).toEqual(new Set(["applied"]));
  expect(outcome.end).toMatchObject({ output: text });
});

test("the log gets increments of chunks, without repeated text", () => {
  const chunk = (content: string, more = {}) => ({
    chunk: { role: "assistant", content, all_content: null, name: null, is_final: false, msg_sequence: 0, ...more },
  });
  const { results } = openIngest().take([
    item(1, "message.delta", chunk("Hello")),
    item(2, "message.delta", chunk("Hello, you", { mood: "calm" })),
    item(3, "message.delta", chunk("Hello, you", { is_final: true })),
    item(4, "message.delta", chunk("Goodbye")),
    item(5, "message.delta", chunk("Good evening")),
    item(6, "message.delta", chunk("Good evening all", { all_content: "Good evening all" })),
  ]);
  const chunks = results.map(({ payload }) => (payload?.case === "messageDelta" ? payload.value.chunk : undefined));
  expect(chunks[0]?.source).toBeUndefined();
  expect(chunks).toMatchObject([
    { content: "Hello", isFinal: false, replacesText: false },
    {
      content: ", you",
      source: '{"role":"assistant","name":null,"is_final":false,"msg_sequence":0,"mood":"calm"}',
    },
    { content: "", isFinal: true },
    { content: "Goodbye" },
    { content: "Good evening" },
    { content: "Hello, youGood evening all", replacesText: true, allContent: undefined },
  ]);
});

test("the binding or the manifest decides what chunks hold when the chunks do not show it", () => {
  const textOf = (chunkContent: "snapshot" | "increment" | undefined) => {
    const { end } = openIngest({ grant: { delivery: { streaming: true, reply: true, chunkContent } } }).take([
      piece(1, "1"),
      piece(2, "10"),
      item(3, "run.completed"),
    ]);
    return end?.kind === "completed" ? end.output : undefined;
  };
  expect([textOf(undefined), textOf("snapshot"), textOf("increment")]).toEqual(["10", "10", "110"]);
});

test("a text that came only in chunks enters the history when its run completes", () => {
  const outcome = openIngest().take([piece(1, "Hel"), piece(2, "Hello"), item(3, "run.completed")]);
  const message = '{"role":"assistant","content":"Hello"}';
  expect(outcome.effects).toEqual([{ kind: "history", role: "assistant", message, text: "Hello" }]);
  expect(openIngest().take([piece(1, "Hel"), item(2, "run.failed", { error: "no" })]).effects).toEqual([]);
});

test("a message may have `text` instead of `content`, and one without either gets a warning", () => {
  const end = openIngest().take([item(1, "run.completed", { message: { role: "assistant", text: "hi" } })]);
  expect(told(end)).toEqual(["applied"]);
  expect(end.end).toMatchObject({ message: { content: { case: "text", value: "hi" } } });
  expect(toldOf("message.completed", { message: { role: "assistant", words: "hi" } })).toBe(
    "applied | data.message has neither content nor tool_calls: write its text into content",
  );
});

test("unknown members of usage are named, and the known ones count", () => {
  const usage = '{"prompt_tokens":1,"audio_tokens":2,"cost":{"usd":1}}';
  const outcome = openIngest().take([item(1, "run.completed", { message: { role: "a", content: "b" } }, { usage })]);
  expect(told(outcome)).toEqual(['applied | usage: "audio_tokens", "cost" left out: not a known member']);
  expect(outcome.end?.usage?.promptTokens).toBe(1n);
});

test("a failure of a cancelled run gets a note: the host decides how that run ends", () => {
  const failed = item(1, "run.failed", { error: "saved my place", code: "cancelled" });
  expect(told(openIngest().take([failed], { isCancelled: true }))).toEqual([
    'applied | the run was cancelled: the host\'s code and error replace "cancelled": "saved my place"',
  ]);
  expect(told(openIngest().take([failed]))).toEqual(["applied"]);
});

test("results beyond the limits of a run are refused, and its terminal result passes", () => {
  const ingest = openIngest({ limits: { resultsMax: 2 } });
  const outcome = ingest.take([piece(1, "a"), item(2, ""), piece(3, "c"), piece(9, "d"), item(5, "run.completed")]);
  const refused = "refused_policy | quota: maximum 2 results in a run";
  expect(told(outcome).slice(2)).toEqual([refused, refused, "applied"]);
  expect(outcome.end).toMatchObject({ kind: "completed" });
  expect(ingest.ackedThrough).toBe(3);
  expect(told(ingest.take([piece(3, "c"), piece(9, "d")]))).toEqual(["dropped_duplicate", "ignored_after_terminal"]);
});

test("the bytes of log entries are limited too", () => {
  const ingest = openIngest({ limits: { bytesMax: 150 } });
  const outcome = ingest.take([piece(1, "x".repeat(50)), piece(2, "x".repeat(50)), item(3, "run.completed")]);
  expect(told(outcome)).toEqual([
    "applied",
    "refused_policy | quota: maximum 150 bytes of results in a run",
    "applied",
  ]);
});

test("a run that completes without output gets a warning", () => {
  expect(toldOf("run.completed", {})).toBe("applied | empty_output");
  expect(told(openIngest().take([piece(1, ""), item(2, "run.completed")]))[1]).toBe("applied | empty_output");
  expect(told(openIngest().take([piece(1, "a"), item(2, "run.completed")]))[1]).toBe("applied");
  expect(told(openIngest().take([message(1, ""), item(2, "run.completed")]))[1]).toBe("applied");
});

test("a run's message is that of its terminal result, or its last one; otherwise its output is the text of its chunks", () => {
  const end = (sequence: number, content?: string) =>
    item(sequence, "run.completed", content === undefined ? {} : { message: { role: "assistant", content } });
  const textOf = (...items: ReportedResult[]) => {
    const ended = openIngest().take(items).end;
    return ended?.kind === "completed" ? (ended.message?.content.value ?? `chunks: ${ended.output}`) : undefined;
  };
  expect(textOf(piece(1, "a"), message(2, "b"), end(3, "c"))).toBe("c");
  expect(textOf(message(1, "a"), message(2, "b"), piece(3, "x"), end(4))).toBe("b");
  expect(textOf(piece(1, "a"), piece(2, "b"), end(3))).toBe("chunks: ab");
  expect(textOf(end(1))).toBe("chunks: ");
});

test("a failed terminal result has code, error and retryable; the document's defaults apply", () => {
  const { end } = openIngest().take([item(1, "run.failed", { error: "no" }, { usage: '{"total_tokens":4}' })]);
  expect(end).toMatchObject({ kind: "failed", code: "runner.error", error: "no", retryable: false });
  expect(end?.usage?.totalTokens).toBe(4n);
});

test("a message enters the history once, even when the terminal result repeats it", () => {
  const said = { role: "assistant", content: "hello", name: null };
  const again = { name: null, content: "hello", role: "assistant" };
  const outcome = openIngest().take([
    item(1, "message.completed", { message: said }),
    item(2, "run.completed", { message: again }),
  ]);
  expect(outcome.effects).toEqual([
    { kind: "history", role: "assistant", message: JSON.stringify(said), text: "hello" },
  ]);
});

test("a terminal result with another message adds it to the history", () => {
  const outcome = openIngest().take([
    message(1, "a"),
    item(2, "run.completed", { message: { role: "x", content: "b" } }),
  ]);
  expect(outcome.effects.map((effect) => effect.kind === "history" && effect.text)).toEqual(["a", "b"]);
});

test("text of the history can be stored with any characters", () => {
  const [effect] = openIngest().take([message(1, "a\0\ud800")]).effects;
  expect(effect).toMatchObject({ text: "a\ufffd\ufffd" });
});

test("only verdicts that the log does not show are stored", () => {
  const outcome = openIngest().take([piece(1, "a"), piece(3, "b"), item(4, "tool.call.started", {}), item(5, "x")]);
  expect(outcome.verdicts.map(isPlain)).toEqual([true, false, true, false]);
  expect(outcome.kept.map(({ sequence }) => sequence)).toEqual([3n, 5n]);
});

test("a type that cannot be stored is dropped, and its verdict can be stored", () => {
  const [verdict] = openIngest().take([item(1, `a\0${"b".repeat(300)}`)]).verdicts;
  expect(verdict?.disposition).toBe("dropped_invalid");
  expect(verdict?.type).toBe(`a\ufffd${"b".repeat(253)}`);
  expect(verdict?.diagnostics.join()).not.toContain("\0");
});

test("entries of the host use no number of the runner and none of its limits", () => {
  const ingest = openIngest({ limits: { resultsMax: 1, bytesMax: 150 } });
  ingest.recallResult(create(RunResultSchema, { payload: { case: "turnStarted", value: { turn: 1 } } }), 140);
  expect(told(ingest.take([piece(1, "a")]))).toEqual(["applied"]);
});

test("restored results count towards the limits of the run", () => {
  const ingest = openIngest({ limits: { bytesMax: 150 } });
  ingest.recallResult(create(RunResultSchema, { ...openIngest().take([piece(1, "a")]).results[0] }), 140);
  expect(told(ingest.take([piece(2, "a")]))).toEqual(["refused_policy | quota: maximum 150 bytes of results in a run"]);
});
