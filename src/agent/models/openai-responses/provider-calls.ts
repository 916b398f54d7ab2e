// Turns the items of tools that the provider runs itself into parts: each call once, with its result.
//
// P1  An item that has its result in it gives its part when it is complete. An item with a `call_id` waits for the item of its output.
// P2  At the end of the response, calls without a result fail: those of tools that the provider leaves to its caller, such as
//     `local_shell_call`, and those that were never completed.
// P3  A program may call our functions. It then waits beyond the end of the response: a later response of the turn has its output.
// P4  Some items of the provider are no calls: a list of tools, a request for an approval, a summary of the conversation.

import { isObject, parseObject } from "../../../platform/base/json/parse-object.ts";
import type { ModelPart, ModelToolCall, ProviderOutcome } from "../model.ts";
import { textOf } from "../wire/frame.ts";
import { failedOutcome, noResult, outcomeOfItem } from "../wire/outcome.ts";
import type { ItemValue } from "./items.ts";

/** Items whose output is an item of its own. */
const answered: ReadonlySet<string> = new Set([
  "apply_patch_call",
  "computer_call",
  "local_shell_call",
  "program",
  "shell_call",
  "tool_search_call",
]);

/** Asks the caller to allow a call of an MCP tool. It ends the response. */
export const approvalType = "mcp_approval_request";

const programType = "program";
const outputSuffix = "_output";
const notCalls: ReadonlySet<string> = new Set(["compaction", approvalType, "mcp_list_tools"]);

/** A call that waits for the item of its output. */
export interface WaitingCall {
  /** The type of its item. */
  readonly type: string;
  readonly callId: string;
  readonly call: ModelToolCall;
  /** The outcome when no output comes. */
  readonly outcome: ProviderOutcome;
}

/** Returns the programs among the items of a turn that have no output yet. */
export function waitingPrograms(items: readonly ItemValue[]): readonly WaitingCall[] {
  const ended = new Set(items.filter(({ type }) => type === programType + outputSuffix).map(callIdOf));
  return items.filter((item) => item.type === programType && !ended.has(callIdOf(item))).map(waitingCall);
}

/** The calls of one response, and the programs of earlier ones of its turn. */
export class ProviderCalls {
  readonly #waiting: WaitingCall[];

  /** `earlier` are the programs that have no output yet. */
  constructor(earlier: readonly WaitingCall[]) {
    this.#waiting = [...earlier];
  }

  /** Takes a complete item. Returns the call that it completes. */
  add(item: ItemValue): readonly ModelPart[] {
    if (notCalls.has(item.type)) {
      return [];
    }
    if (item.type.endsWith(outputSuffix)) {
      return [{ type: "provider-call", call: this.#takeCallOf(item) ?? callOf(item), outcome: outcomeOf(item) }];
    }
    if (answered.has(item.type) || callIdOf(item) !== "") {
      this.#waiting.push(waitingCall(item));
      return [];
    }
    return [finishedProviderCall(item)];
  }

  /** Returns the calls that still wait, without programs when the turn goes on. */
  end(goesOn: boolean): readonly ModelPart[] {
    return this.#waiting
      .filter(({ type }) => !(goesOn && type === programType))
      .map(({ call, outcome }) => ({ type: "provider-call", call, outcome }));
  }

  /** Removes and returns the oldest call that an output belongs to. */
  #takeCallOf(output: ItemValue): ModelToolCall | undefined {
    const called = output.type.slice(0, -outputSuffix.length);
    const place = this.#waiting.findIndex(({ type, callId }) => {
      return (type === called || type === `${called}_call`) && callId === callIdOf(output);
    });
    return place === -1 ? undefined : this.#waiting.splice(place, 1)[0]?.call;
  }
}

/** Returns the part of a call that was begun and never completed. */
export function openProviderCall(item: ItemValue): ModelPart {
  return { type: "provider-call", call: callOf(item), outcome: noResult };
}

/** Returns the part of a call whose item has its result in it. */
export function finishedProviderCall(item: ItemValue): ModelPart {
  return { type: "provider-call", call: callOf(item), outcome: outcomeOf(item) };
}

/** Of an item whose type is new, the item itself is the result. */
function waitingCall(item: ItemValue): WaitingCall {
  const outcome = answered.has(item.type) ? noResult : outcomeOf(item);
  return { type: item.type, callId: callIdOf(item), call: callOf(item), outcome };
}

function callIdOf({ fields }: ItemValue): string {
  return textOf(fields.call_id);
}

function callOf(item: ItemValue): ModelToolCall {
  return { id: textOf(item.fields.id) || callIdOf(item), name: nameOf(item), argumentsJson: argumentsOf(item) };
}

function nameOf({ type, fields }: ItemValue): string {
  const own = type === "mcp_call" || type === "custom_tool_call" ? textOf(fields.name) : "";
  return own || type.replace(/(?:_call)?(?:_output)?$/, "");
}

/** Members that are the arguments themselves, and members of them. */
const wholeArguments = ["arguments", "input", "action", "operation"] as const;
const namedArguments = ["code", "queries", "actions", "arguments", "input"] as const;

/** Returns the arguments as an object, as written. Example: `{"code":"1+1"}`. */
function argumentsOf({ fields, written }: ItemValue): string {
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

function outcomeOf({ fields, written }: ItemValue): ProviderOutcome {
  const error = fields.error ?? undefined;
  if (error !== undefined || fields.status === "failed") {
    return failedOutcome(describeError(error));
  }
  return outcomeOfItem(written?.text());
}

function describeError(error: unknown): string {
  const { message }: { readonly message?: unknown } = typeof error === "object" && error !== null ? error : {};
  const said = typeof error === "string" ? error : textOf(message);
  return said || (error === undefined ? "the provider says that it failed" : JSON.stringify(error));
}
