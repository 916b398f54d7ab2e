// The state that the service wants back with its own response: the items of the output in order, as it takes them as input. A
// response whose text and calls say everything has no state.
//
// S1  Nothing is stored at the service, so a reference to an item is useless: thoughts go back encrypted, and only then.
// S2  Items of tools that the provider runs go back whole, where the service takes them without its own store.
// S3  Annotations go back with their text.
// S4  Another model of the account gets the items of tools, which are plain, and nothing that is encrypted.

import { printJson, RawJson } from "../../../platform/base/json/exact.ts";
import type { ModelMessage, ModelToolCall } from "../model.ts";
import { argumentsOf } from "../wire/calls.ts";
import { asRecord, textOf, WrittenValue } from "../wire/frame.ts";
import { withoutMember } from "../wire/members.ts";
import { isOfOtherModel, type Origin } from "../wire/origin.ts";
import { sameCalls } from "../wire/same-calls.ts";
import { isCall } from "./calls.ts";
import { type ItemValue, type OutputItem, textOfMessage } from "./items.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Distinguishes these states from those of the same account's other format. */
const kind = "responses";

/**
 * Items of tools that the service takes back. Others stay out: a `code_interpreter_call` whose container has expired would make every
 * later request fail, an `image_generation_call` needs the store, and a call that the provider left to its caller wants an output.
 */
const returned: ReadonlySet<string> = new Set([
  "compaction",
  "file_search_call",
  "mcp_call",
  "mcp_list_tools",
  "program",
  "program_output",
  "shell_call",
  "shell_call_output",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
]);

/** Items that are encrypted for the model that wrote them. Another one refuses them, and the history says the same without them. */
const encrypted: ReadonlySet<string> = new Set(["compaction", "reasoning"]);

/** Items that are refused without the other one of the same `call_id`. */
const pairs = new Map([
  ["shell_call", "shell_call_output"],
  ["shell_call_output", "shell_call"],
  ["tool_search_call", "tool_search_output"],
  ["tool_search_output", "tool_search_call"],
]);

/** The maximum size of an item of a tool. Each later request would carry it. */
const itemBytesMax = 256 * 1024;

/** The parts of a response that its state is made of. */
export interface ResponseItems {
  /** In order. */
  readonly items: readonly OutputItem[];
  /** Returns the calls of an item; none when the provider has run them. */
  readonly callsOf: (item: OutputItem) => readonly ModelToolCall[];
  /** The arguments of a cut response may be cut too. They never go back. */
  readonly isCut: boolean;
}

/** Returns the state as JSON text, or undefined when the text and the calls say everything. */
export function writeState({ provider, model }: Origin, response: ResponseItems): string | undefined {
  const kept = response.items.flatMap((item) => keepItem(item, response));
  return kept.some(({ isNeeded }) => isNeeded)
    ? printJson({ provider, model, kind, items: kept.map(({ json }) => json) })
    : undefined;
}

/**
 * Returns the input items of a message from its state. A provider refuses a call without a result, so calls that the message lacks
 * are left out, and so are thoughts that nothing follows. Returns undefined when the state belongs to another provider or format,
 * or is unreadable.
 */
export function readState(
  origin: Origin,
  { state, toolCalls }: Extract<ModelMessage, { role: "assistant" }>,
): readonly unknown[] | undefined {
  const items = keptItems(origin, state);
  if (items === undefined) {
    return undefined;
  }
  const find = sameCalls(toolCalls);
  const kept = items.flatMap(({ type, fields, written }): InputItem[] => {
    if (type === "function_call") {
      const call = find({ id: textOf(fields.call_id), name: textOf(fields.name) });
      return call === undefined ? [] : [{ type, json: { ...fields, call_id: call.id } }];
    }
    const text = written?.text();
    return text === undefined ? [] : [{ type, json: new RawJson(text) }];
  });
  const end = kept.findLastIndex(({ type }) => type !== "reasoning") + 1;
  return kept.slice(0, end).map(({ json }) => json);
}

/**
 * Returns the items of a state as they were sent, without those that only their own model can decrypt. Returns undefined when it
 * belongs to another provider or format, or is unreadable.
 */
export function keptItems(origin: Origin, state: string | undefined): readonly ItemValue[] | undefined {
  if (state === undefined) {
    return undefined;
  }
  try {
    const { provider, model, kind: format, items } = asRecord(JSON.parse(state));
    if (provider !== origin.provider || format !== kind || !Array.isArray(items)) {
      return undefined;
    }
    const written = new WrittenValue(state).at("items");
    const all = items.map((item, place) => {
      const fields = asRecord(item);
      return { type: textOf(fields.type), fields, written: written.at(place) };
    });
    return isOfOtherModel(model, origin) ? all.filter(({ type }) => !encrypted.has(type)) : all;
  } catch {
    return undefined;
  }
}

interface InputItem {
  readonly type: string;
  readonly json: unknown;
}

/** Returns a call as an input item. */
export function printCall({ id, name, argumentsJson }: ModelToolCall): object {
  return { type: "function_call", call_id: id, name, arguments: argumentsOf(argumentsJson) };
}

interface KeptItem {
  readonly json: unknown;
  /** Whether the item says more than the text and the calls of the message. */
  readonly isNeeded: boolean;
}

function keepItem(item: OutputItem, response: ResponseItems): readonly KeptItem[] {
  switch (item.type) {
    case "message":
      return keepMessage(item);
    case "reasoning":
      return keepThoughts(item);
    default:
      return isCall(item) ? keepCalls(item, response) : keepWhole(item, response);
  }
}

function keepMessage(item: OutputItem): readonly KeptItem[] {
  const { fields, written } = item;
  const parts = Array.isArray(fields.content) ? fields.content.map(asRecord) : [];
  const phase = fields.phase ?? undefined;
  const text = textOfMessage(item);
  const content = parts.some(isAnnotated) ? written?.at("content").text() : undefined;
  if (content !== undefined) {
    return [{ json: { type: "message", role: "assistant", content: new RawJson(content), phase }, isNeeded: true }];
  }
  return text === "" ? [] : [{ json: { role: "assistant", content: text, phase }, isNeeded: phase !== undefined }];
}

function isAnnotated({ annotations }: Fields): boolean {
  return Array.isArray(annotations) && annotations.length > 0;
}

function keepThoughts({ fields }: OutputItem): readonly KeptItem[] {
  const { id, encrypted_content: content, summary = [] } = fields;
  return textOf(content) === ""
    ? []
    : [{ json: { type: "reasoning", id, encrypted_content: content, summary }, isNeeded: true }];
}

/** Members of a call besides its arguments that the service wants back. */
const callMembers = ["namespace", "caller", "async"] as const;

function keepCalls(item: OutputItem, { callsOf, isCut }: ResponseItems): readonly KeptItem[] {
  const entries = callMembers.map((name) => [name, item.fields[name] ?? undefined] as const);
  const own = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  return callsOf(item).map((call) => ({
    json: { ...printCall(isCut ? { ...call, argumentsJson: "{}" } : call), ...own },
    isNeeded: Object.keys(own).length > 0,
  }));
}

function keepWhole(item: OutputItem, { items }: ResponseItems): readonly KeptItem[] {
  const isKept = item.isDone && !item.isReduced && returned.has(item.type) && hasPair(item, items);
  const json = isKept ? item.written?.text() : undefined;
  return json === undefined || Buffer.byteLength(json) > itemBytesMax
    ? []
    : [{ json: new RawJson(withoutMember(json, "created_by")), isNeeded: true }];
}

function hasPair(item: OutputItem, items: readonly OutputItem[]): boolean {
  const other = pairs.get(item.type);
  return (
    other === undefined ||
    items.some(({ type, fields }) => type === other && textOf(fields.call_id) === textOf(item.fields.call_id))
  );
}
