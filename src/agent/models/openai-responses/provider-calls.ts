// Turns the items of tools that the provider runs itself into parts: each call once, with its result.
//
// P1  An item that has its result in it gives its part when it is complete. An item with a `call_id` waits for the item of its output.
// P2  At the end of the response, calls without a result fail: those of tools that the provider leaves to its caller, such as
//     `local_shell_call`, and those that were never completed.

import { parseObject } from "../../../platform/base/json/parse-object.ts";
import type { ModelPart, ProviderOutcome } from "../model.ts";
import type { OutputItem } from "./items.ts";
import { fitObject } from "./members.ts";

/** The maximum size of an outcome. The log keeps it, and an image in base64 has megabytes. */
export const outcomeBytesMax = 256 * 1024;

/** Items whose output is an item of its own. */
const answered: ReadonlySet<string> = new Set([
  "apply_patch_call",
  "computer_call",
  "local_shell_call",
  "program",
  "shell_call",
  "tool_search_call",
]);

const outputSuffix = "_output";
const noResult: ProviderOutcome = { error: "the provider sent no result" };

/** The calls of one response. */
export class ProviderCalls {
  readonly #waiting: OutputItem[] = [];

  /** Takes a complete item. Returns the call that it completes. */
  add(item: OutputItem): readonly ModelPart[] {
    if (item.type.endsWith(outputSuffix)) {
      return [providerCall(this.#takeCallOf(item) ?? item, outcomeOf(item))];
    }
    if (answered.has(item.type) || textOf(item.fields.call_id) !== "") {
      this.#waiting.push(item);
      return [];
    }
    return [providerCall(item, outcomeOf(item))];
  }

  /** Returns the calls that still wait. Of an item whose type is new, the item itself is the result. */
  end(): readonly ModelPart[] {
    return this.#waiting.map((item) => providerCall(item, answered.has(item.type) ? noResult : outcomeOf(item)));
  }

  /** Removes and returns the oldest call that an output belongs to. */
  #takeCallOf({ type, fields }: OutputItem): OutputItem | undefined {
    const called = type.slice(0, -outputSuffix.length);
    const place = this.#waiting.findIndex((item) => {
      const isOfType = item.type === called || item.type === `${called}_call`;
      return isOfType && textOf(item.fields.call_id) === textOf(fields.call_id);
    });
    return place === -1 ? undefined : this.#waiting.splice(place, 1)[0];
  }
}

/** Returns the part of a call that was begun and never completed. */
export function openProviderCall(item: OutputItem): ModelPart {
  return providerCall(item, noResult);
}

/** Returns the part of a call of a custom tool that the provider has run. */
export function finishedProviderCall(item: OutputItem): ModelPart {
  return providerCall(item, outcomeOf(item));
}

function providerCall(item: OutputItem, outcome: ProviderOutcome): ModelPart {
  const id = textOf(item.fields.id) || textOf(item.fields.call_id);
  return { type: "provider-call", call: { id, name: nameOf(item), argumentsJson: argumentsOf(item) }, outcome };
}

function nameOf({ type, fields }: OutputItem): string {
  const own = type === "mcp_call" || type === "custom_tool_call" ? textOf(fields.name) : "";
  return own || type.replace(/(?:_call)?(?:_output)?$/, "");
}

/** Members that are the arguments themselves, and members of them. */
const wholeArguments = ["arguments", "input", "action", "operation"] as const;
const namedArguments = ["code", "queries", "actions", "arguments", "input"] as const;

/** Returns the arguments as an object, as written. Example: `{"code":"1+1"}`. */
function argumentsOf({ fields, written }: OutputItem): string {
  for (const name of wholeArguments) {
    const value = fields[name];
    if (isObject(value)) {
      return written?.at(name).text() ?? "{}";
    }
    if (typeof value === "string" && parseObject(value) !== undefined) {
      return value;
    }
  }
  const named = namedArguments.flatMap((name) => {
    const text = (fields[name] ?? null) === null ? undefined : written?.at(name).text();
    return text === undefined ? [] : [`"${name}":${text}`];
  });
  return `{${named.join(",")}}`;
}

function outcomeOf({ fields, written }: OutputItem): ProviderOutcome {
  const error = fields.error ?? undefined;
  if (error !== undefined || fields.status === "failed") {
    return { error: describeError(error) };
  }
  const json = written?.text();
  return json === undefined
    ? { error: "the result of the provider cannot be read" }
    : { json: fitObject(json, outcomeBytesMax) };
}

function describeError(error: unknown): string {
  const { message }: { readonly message?: unknown } = typeof error === "object" && error !== null ? error : {};
  const said = typeof error === "string" ? error : textOf(message);
  return said || (error === undefined ? "the provider says that it failed" : JSON.stringify(error));
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
