// Reads the calls of the output that are for us: functions and custom tools, and the wrapper that OpenAI's models sometimes make
// around several calls.

import { isObject, parseJson } from "../../../platform/base/json/parse-object.ts";
import type { ModelToolCall } from "../model.ts";
import { asRecord, textOf, WrittenValue } from "../wire/frame.ts";
import type { OutputItem } from "./items.ts";

/** Whether the item is a call that is for us, or looks like one. */
export function isCall({ type }: OutputItem): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

/** Returns the calls of an item: one, or those that the model wrapped into one. `offered` has the names of the tools. */
export function callsOf(item: OutputItem, offered: ReadonlySet<string>): readonly ModelToolCall[] {
  const { call_id: id, name } = item.fields;
  const call = {
    id: textOf(id),
    name: textOf(name),
    argumentsJson: item.type === "custom_tool_call" ? customArguments(item) : functionArguments(item),
  };
  return unwrapCall(call, offered) ?? [call];
}

/** Returns the whole text of the arguments; an empty text when the item has none. */
function functionArguments({ fields, written, text }: OutputItem): string {
  const { arguments: given } = fields;
  if (typeof given === "object" && given !== null) {
    return written?.at("arguments").text() ?? "";
  }
  return textOf(given) || text;
}

/** Custom tools take free text. Elsewhere the arguments of a call are an object. */
function customArguments({ fields, text }: OutputItem): string {
  return JSON.stringify({ input: textOf(fields.input) || text });
}

/** The name of the wrapper. It is a call of an offered tool when a tool has this name. */
const wrapperName = "parallel";
const recipientPrefix = "functions.";

/** Returns undefined for a call that is no wrapper, or that wraps calls of other tools than those that were offered. */
function unwrapCall(
  { id, name, argumentsJson }: ModelToolCall,
  offered: ReadonlySet<string>,
): readonly ModelToolCall[] | undefined {
  if (name !== wrapperName || offered.has(wrapperName)) {
    return undefined;
  }
  const { tool_uses: uses } = asRecord(parseJson(argumentsJson));
  if (!Array.isArray(uses) || uses.length === 0) {
    return undefined;
  }
  const written = new WrittenValue(argumentsJson).at("tool_uses");
  const calls = uses.flatMap((use, place): ModelToolCall[] => {
    const tool = recipientOf(use);
    const text = isObject(asRecord(use).parameters) ? written.at(place).at("parameters").text() : undefined;
    return tool === undefined || !offered.has(tool) || text === undefined
      ? []
      : [{ id: id === "" ? "" : `${id}_${place}`, name: tool, argumentsJson: text }];
  });
  return calls.length === uses.length ? calls : undefined;
}

function recipientOf(use: unknown): string | undefined {
  const { recipient_name: name } = asRecord(use);
  return typeof name === "string" && name.startsWith(recipientPrefix) ? name.slice(recipientPrefix.length) : undefined;
}
