// Reads Anthropic's Messages frames for the judge.

import type { FinishReason } from "../../../src/agent/models/model.ts";
import { type Answer, argumentsOf, nameCall, toAnswer, wordsOf } from "../answer.ts";
import { at, countAt, hasAt, latestCount, listAt, textAt } from "../exact-json.ts";
import type { RecordedEvent } from "../recording.ts";

const finishes: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool-calls",
  refusal: "content-filter",
  pause_turn: "paused",
};

/** A block, with the pieces of its deltas joined. */
interface Block {
  readonly start: unknown;
  readonly type: string;
  text: string;
  thinking: string;
  input: string;
}

/** Returns what a stream says. A message that begins again takes the place of the one before, whose text has been shown. */
export function expectOfMessages(events: readonly RecordedEvent[]): Answer {
  const failed = events.find(({ name, frame }) => name === "error" || hasAt(frame, "error"));
  const frames = events.slice(0, failed && events.indexOf(failed)).map(({ frame }) => frame);
  const shown = readBlocks(frames);
  const blocks = readBlocks(frames.slice(frames.findLastIndex((frame) => at(frame, "type") === "message_start")));
  const words = frames.map((frame) => textAt(frame, "delta", "stop_reason") || textAt(frame, "message", "stop_reason"));
  const word = words.findLast((each) => each !== "");
  return toAnswer({
    text: shown.map(({ text }) => text).join(""),
    reasoning: shown.map(({ thinking }) => thinking),
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ start, input }) => ({
        id: textAt(start, "id"),
        name: textAt(start, "name"),
        arguments: argumentsOf(input === "" ? at(start, "input") : input),
      })),
    providerCalls: providerCallsOf(blocks, word === "pause_turn" || word === "tool_use"),
    finish: word === undefined ? undefined : (finishes[word] ?? "other"),
    failure: failed && wordsOf(failed.data),
    ...usageOf(frames),
  });
}

/** Reads the blocks: those that begin by themselves, and those that a message begins with. */
function readBlocks(frames: readonly unknown[]): readonly Block[] {
  const blocks: Block[] = [];
  const open = new Map<number | undefined, Block>();
  const add = (start: unknown): Block => {
    const type = textAt(start, "type");
    const text = type === "text" ? textAt(start, "text") : "";
    const block = { start, type, text, thinking: textAt(start, "thinking"), input: "" };
    blocks.push(block);
    return block;
  };
  for (const frame of frames) {
    const index = countAt(frame, "index");
    listAt(frame, "message", "content").forEach(add);
    if (at(frame, "type") === "content_block_start") {
      open.set(index, add(at(frame, "content_block")));
    }
    const block = open.get(index);
    if (at(frame, "type") === "content_block_delta" && block !== undefined) {
      block.text += textAt(frame, "delta", "text");
      block.thinking += textAt(frame, "delta", "thinking");
      block.input += textAt(frame, "delta", "partial_json");
    }
  }
  return blocks;
}

/** Returns each tool that the provider has run. Its result may come after a pause or after the results of functions. */
function providerCallsOf(blocks: readonly Block[], goesOn: boolean): readonly string[] {
  const uses = blocks.filter(({ type }) => type === "server_tool_use" || type === "mcp_tool_use");
  const results = blocks.filter(({ type }) => type.endsWith("_tool_result"));
  const answered = results.map(({ start, type }) => {
    const use = uses.find((each) => at(each.start, "id") === at(start, "tool_use_id"));
    const isError = at(start, "is_error") === true || textAt(start, "content", "type").endsWith("_error");
    return { use, call: nameCall(use ? textAt(use.start, "name") : type.replace("_tool_result", ""), !isError) };
  });
  const open = uses.filter((use) => !goesOn && !answered.some((each) => each.use === use));
  return [...answered.map(({ call }) => call), ...open.map(({ start }) => nameCall(textAt(start, "name"), false))];
}

/** The counts at the end replace those at the start. */
function usageOf(frames: readonly unknown[]): Pick<Answer, "inputTokens" | "outputTokens"> {
  const usages = frames.flatMap((frame) => [at(frame, "message", "usage"), at(frame, "usage")]);
  const input = latestCount(usages, "input_tokens");
  const read = latestCount(usages, "cache_read_input_tokens") ?? 0;
  const written = latestCount(usages, "cache_creation_input_tokens") ?? 0;
  return {
    inputTokens: input === undefined ? undefined : input + read + written,
    outputTokens: latestCount(usages, "output_tokens"),
  };
}
