// Pairs the calls that the service runs itself with their results. A call may wait beyond the end of its response: the next response
// of the turn has its result.

import type { ModelPart, ModelToolCall, ProviderOutcome } from "../model.ts";
import { argumentsOf } from "../wire/calls.ts";
import { asRecord, type WrittenValue } from "../wire/frame.ts";
import { failedOutcome, noResult, outcomeOfResult } from "../wire/outcome.ts";
import type { ResponseBlock } from "./response-block.ts";

/** The calls of one response, and those of earlier ones of its turn. */
export class ProviderCalls {
  readonly #waiting: Map<string, () => ModelToolCall>;

  /** `earlier` are the calls that have no result yet. */
  constructor(earlier: readonly ModelToolCall[]) {
    this.#waiting = new Map(earlier.map((call) => [call.id, () => call]));
  }

  /** The ids of the calls that have no result yet. */
  get waiting(): ReadonlySet<string> {
    return new Set(this.#waiting.keys());
  }

  /** Adds a call, whose arguments may still arrive. */
  begin(block: ResponseBlock): void {
    const { id, name } = block;
    this.#waiting.set(id, () => ({ id, name, argumentsJson: argumentsOf(block.argumentsJson) }));
  }

  /** Returns the call of a result. */
  answer(result: Readonly<Record<string, unknown>>, written: WrittenValue): ModelPart {
    const { type, tool_use_id: id } = result;
    const call = this.#waiting.get(String(id))?.() ?? {
      id: String(id),
      name: String(type).replace(/_tool_result$/, ""),
      argumentsJson: "{}",
    };
    this.#waiting.delete(call.id);
    return { type: "provider-call", call, outcome: outcomeOf(result, written) };
  }

  /** Returns the calls without a result at the end of a turn. Those of a cut response lose their arguments, which may be cut too. */
  end(isCut: boolean): ModelPart[] {
    const calls = [...this.#waiting.values()].map((call) => call());
    return calls.map((call) => ({
      type: "provider-call",
      call: isCut ? { ...call, argumentsJson: "{}" } : call,
      outcome: noResult,
    }));
  }
}

function outcomeOf(
  { content, is_error: isError }: Readonly<Record<string, unknown>>,
  written: WrittenValue,
): ProviderOutcome {
  const { type, error_code: code } = asRecord(content);
  if (typeof type === "string" && type.endsWith("_error")) {
    return { error: typeof code === "string" ? code : type };
  }
  if (isError === true) {
    return failedOutcome(textOf(content));
  }
  return outcomeOfResult(written.at("content").text() ?? JSON.stringify(content ?? null));
}

/** Returns the text of an error's content: a text, or a list of blocks. */
function textOf(content: unknown): string {
  const said = Array.isArray(content) ? content.map((block) => asRecord(block).text) : [content];
  const text = said.filter((each) => typeof each === "string").join("\n");
  return text === "" ? "the tool failed" : text;
}
