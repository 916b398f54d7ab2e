// Reads OpenAI's Responses frames for the judge.

import type { FinishReason } from "../../../src/agent/models/model.ts";
import { type Answer, argumentsOf, nameCall, toAnswer, wordsOf } from "../answer.ts";
import { at, countAt, hasAt, listAt, textAt } from "../exact-json.ts";
import type { RecordedEvent } from "../recording.ts";

/** Returns what a stream says. */
export function expectOfResponses(events: readonly RecordedEvent[]): Answer {
  const frames = events.map(({ frame }) => frame);
  const items = readItems(frames);
  const ofType = (type: string): readonly Item[] => items.filter(({ item }) => at(item, "type") === type);
  const custom = ofType("custom_tool_call");
  // When text follows the call, the provider has run the tool itself.
  const isRun = (item: Item): boolean => ofType("message").some((each) => items.indexOf(each) > items.indexOf(item));
  const last = frames.findLast((frame) => hasAt(frame, "response", "status"));
  const failed = events.find(({ name, frame }) => name === "error" || hasAt(frame, "error"));
  const error = failed?.data ?? at(last, "response", "error") ?? undefined;
  return toAnswer({
    text: ofType("message")
      .flatMap((item) => textsOf(item, "content", "output_text"))
      .join(""),
    reasoning: ofType("reasoning").flatMap((item) => [
      ...textsOf(item, "content", "reasoning_text"),
      ...textsOf(item, "summary", "reasoning_summary_text"),
    ]),
    calls: items
      .filter((item) => ofType("function_call").includes(item) || (custom.includes(item) && !isRun(item)))
      .map(({ item }) => ({ id: textAt(item, "call_id"), name: textAt(item, "name"), arguments: argumentsIn(item) })),
    providerCalls: [...items.flatMap(providerCallOf), ...custom.filter(isRun).map(({ item }) => toolOf(item))],
    leftCalls: items.flatMap(leftCallOf),
    finish: finishOf(last),
    failure: error === undefined ? undefined : wordsOf(error),
    isRefused: ofType("message").some((item) => textsOf(item, "content", "refusal").length > 0),
    inputTokens: countAt(last, "response", "usage", "input_tokens"),
    outputTokens: countAt(last, "response", "usage", "output_tokens"),
  });
}

/** Returns the arguments of a call. A custom tool takes a text, which Runnel gives it as a member. */
function argumentsIn(item: unknown): string {
  const isCustom = at(item, "type") === "custom_tool_call";
  return isCustom ? JSON.stringify({ input: textAt(item, "input") }) : argumentsOf(at(item, "arguments"));
}

function finishOf(last: unknown): FinishReason | undefined {
  const why = textAt(last, "response", "incomplete_details", "reason");
  switch (at(last, "type")) {
    case "response.completed":
      return "stop";
    case "response.incomplete":
      return why === "content_filter" ? "content-filter" : why.includes("max") ? "length" : "other";
    default:
      return undefined;
  }
}

/** An item as its latest frame has it, and the deltas that it was sent in. */
interface Item {
  readonly item: unknown;
  readonly deltas: readonly unknown[];
}

function readItems(frames: readonly unknown[]): readonly Item[] {
  const indexes = new Set(frames.map((frame) => countAt(frame, "output_index") ?? -1)).difference(new Set([-1]));
  return [...indexes]
    .toSorted((one, other) => one - other)
    .map((index) => {
      const own = frames.filter((frame) => countAt(frame, "output_index") === index);
      const item = at(
        own.findLast((frame) => hasAt(frame, "item")),
        "item",
      );
      return { item, deltas: own.filter((frame) => hasAt(frame, "delta")) };
    });
}

/** Returns the texts of one type: whole ones, unless the deltas have already said something else. */
function textsOf({ item, deltas }: Item, list: string, type: string): readonly string[] {
  const own = deltas.filter((frame) => at(frame, "type") === `response.${type}.delta`);
  const pieces = Map.groupBy(own, (frame) => countAt(frame, "content_index") ?? countAt(frame, "summary_index"));
  const said = [...pieces.values()].map((each) => each.map((frame) => textAt(frame, "delta")).join(""));
  const contents = listAt(item, list).filter((content) => type.endsWith(textAt(content, "type") || "none"));
  const whole = contents.map((content) => textAt(content, "text") || textAt(content, "refusal"));
  return whole.join("").startsWith(said.join("")) ? whole : said;
}

/** Items of tools that run at the provider only, and outputs of tools that may also be left to the caller. */
const runTypes =
  /^((web_search|file_search|code_interpreter|image_generation|mcp)_call|(shell_call|tool_search|program)_output)$/;
const leftTypes = /^(shell|local_shell|apply_patch|tool_search|computer)_call$/;

function providerCallOf({ item }: Item): readonly string[] {
  const hasFailed = hasAt(item, "error") || at(item, "status") === "failed";
  return runTypes.test(textAt(item, "type")) ? [nameCall(toolOf(item), !hasFailed)] : [];
}

function leftCallOf({ item }: Item): readonly string[] {
  return leftTypes.test(textAt(item, "type")) ? [nameCall(toolOf(item), false)] : [];
}

function toolOf(item: unknown): string {
  return textAt(item, "name") || textAt(item, "type").replace(/(_call)?(_output)?$/, "");
}
