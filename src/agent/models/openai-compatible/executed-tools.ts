// Reads the tools that Groq's systems run themselves, the `executed_tools` of a delta or a message. A stream has a tool twice: when it
// begins, and whole with its output. Each tool gives one call.

import { parseObject } from "../../../platform/base/json/parse-object.ts";
import type { ModelPart, ModelToolCall } from "../model.ts";
import { asRecord, type WrittenValue } from "../wire/frame.ts";
import { noResult, outcomeOfItem } from "../wire/outcome.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The tools of one response. */
export class ExecutedTools {
  /** The call of each tool by its index; undefined once it has its output. */
  readonly #calls = new Map<number, ModelToolCall | undefined>();

  /** Adds the tools of a delta; any other value is skipped. Returns the calls that they complete. */
  add(tools: unknown, written: () => WrittenValue): readonly ModelPart[] {
    const parts: ModelPart[] = [];
    if (Array.isArray(tools) && tools.length > 0) {
      const all = written();
      for (const [place, tool] of tools.entries()) {
        parts.push(...this.#addOne(asRecord(tool), place, all.at(place)));
      }
    }
    return parts;
  }

  /** Returns the calls whose output never came. */
  end(): readonly ModelPart[] {
    const open = [...this.#calls.values()].filter((call) => call !== undefined);
    return open.map((call) => ({ type: "provider-call", call, outcome: noResult }));
  }

  #addOne(tool: Fields, place: number, written: WrittenValue): readonly ModelPart[] {
    const index = typeof tool.index === "number" ? tool.index : place;
    if (this.#calls.has(index) && this.#calls.get(index) === undefined) {
      return [];
    }
    const call = { id: "", name: nameOf(tool), argumentsJson: argumentsOf(tool, written) };
    const hasOutput = (tool.output ?? null) !== null;
    this.#calls.set(index, hasOutput ? undefined : call);
    return hasOutput ? [{ type: "provider-call", call, outcome: outcomeOfItem(written.text()) }] : [];
  }
}

function nameOf({ type, name }: Fields): string {
  return [type, name].find((word): word is string => typeof word === "string" && word !== "") ?? "tool";
}

/** Returns the arguments as an object, as written. They are usually a text that holds one. */
function argumentsOf({ arguments: given }: Fields, written: WrittenValue): string {
  if (typeof given === "string" && parseObject(given) !== undefined) {
    return given;
  }
  const text = (given ?? "") === "" ? undefined : written.at("arguments").text();
  if (text === undefined) {
    return "{}";
  }
  return parseObject(text) === undefined ? `{"arguments":${text}}` : text;
}
