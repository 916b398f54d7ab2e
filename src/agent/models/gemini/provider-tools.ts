// Reads the tools that Google runs itself. Code and some searches are parts of the answer: a call, then its result. A grounded
// answer says at its end what was searched and which pages were read. Each of the two becomes one call when no part has named it.

import type { ModelPart, ModelToolCall, ProviderOutcome } from "../model.ts";
import { asRecord, type WrittenValue } from "../wire/frame.ts";
import { failedOutcome, noResult, outcomeOfResult } from "../wire/outcome.ts";
import { asArray, type Fields } from "./frames.ts";

/** Collects the calls of Google's own tools in one response. */
export class ProviderTools {
  readonly #open: ModelToolCall[] = [];
  /** The tools that parts have named. */
  readonly #named = new Set<string>();
  #grounding: WrittenValue | undefined;
  #pages: { readonly urls: readonly unknown[]; readonly written: WrittenValue } | undefined;

  /** Adds a part. Returns the call that it completes; undefined when the part is not of such a tool. */
  add(part: Fields, written: () => WrittenValue): readonly ModelPart[] | undefined {
    const kind = kinds.find((each) => typeof part[each] === "object" && part[each] !== null);
    if (kind === undefined) {
      return undefined;
    }
    const fields = asRecord(part[kind]);
    const id = typeof fields.id === "string" ? fields.id : "";
    const value = written().at(kind);
    switch (kind) {
      case "executableCode":
        return this.#begin({ id, name: codeTool, argumentsJson: codeOf(value) });
      case "codeExecutionResult":
        return this.#complete(id, codeTool, outcomeOfCode(fields, value));
      case "toolCall":
        this.#named.add(nameOf(fields));
        return this.#begin({ id, name: nameOf(fields), argumentsJson: value.at("args").text() ?? "{}" });
      case "toolResponse":
        return this.#complete(id, nameOf(fields), outcomeOf(value.at("response")));
      default:
        return kind satisfies never;
    }
  }

  /** Notes what a frame says of the whole answer. The latest frame counts. */
  note({ groundingMetadata, urlContextMetadata }: Fields, written: () => WrittenValue): void {
    if (asArray(asRecord(groundingMetadata).webSearchQueries).length > 0) {
      this.#grounding = written().at("groundingMetadata");
    }
    const pages = asArray(asRecord(urlContextMetadata).urlMetadata);
    if (pages.length > 0) {
      const urls = pages.map((page) => asRecord(page).retrievedUrl);
      this.#pages = { urls, written: written().at("urlContextMetadata") };
    }
  }

  /** Returns the calls that the end of the answer completes. */
  end(): readonly ModelPart[] {
    const parts = this.#open.map((call) => complete(call, noResult));
    if (this.#grounding !== undefined && !this.#named.has(searchTool)) {
      const argumentsJson = `{"queries":${this.#grounding.at("webSearchQueries").text() ?? "[]"}}`;
      parts.push(complete({ id: "", name: "google_search", argumentsJson }, outcomeOf(this.#grounding)));
    }
    if (this.#pages !== undefined && !this.#named.has(pageTool)) {
      const argumentsJson = JSON.stringify({ urls: this.#pages.urls });
      parts.push(complete({ id: "", name: pageTool, argumentsJson }, outcomeOf(this.#pages.written)));
    }
    return parts;
  }

  #begin(call: ModelToolCall): readonly ModelPart[] {
    this.#open.push(call);
    return [];
  }

  /** Completes the call with the id; where one of the two has none, the oldest call of the tool. */
  #complete(id: string, name: string, outcome: ProviderOutcome): readonly ModelPart[] {
    const same = this.#open.findIndex((each) => each.id === id && (id !== "" || each.name === name));
    const oldest = this.#open.findIndex((each) => each.name === name && (id === "" || each.id === ""));
    const place = same === -1 ? oldest : same;
    const [call] = place === -1 ? [] : this.#open.splice(place, 1);
    return call === undefined ? [] : [complete(call, outcome)];
  }
}

/** The members of a part that belong to Google's own tools. */
const kinds = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"] as const;

const codeTool = "code_execution";
const searchTool = "google_search_web";
const pageTool = "url_context";

function complete(call: ModelToolCall, outcome: ProviderOutcome): ModelPart {
  return { type: "provider-call", call, outcome };
}

function codeOf(written: WrittenValue): string {
  const members = ["language", "code"].map((key) => `"${key}":${written.at(key).text() ?? '""'}`);
  return `{${members.join(",")}}`;
}

function outcomeOfCode({ outcome, output }: Fields, written: WrittenValue): ProviderOutcome {
  if (typeof outcome !== "string" || outcome === "OUTCOME_OK") {
    return outcomeOf(written);
  }
  return failedOutcome(typeof output === "string" && output !== "" ? `${outcome}: ${output}` : outcome);
}

function outcomeOf(written: WrittenValue): ProviderOutcome {
  return outcomeOfResult(written.text() ?? "{}");
}

/** Returns for example `file_search` for the type `FILE_SEARCH`. */
function nameOf({ toolType }: Fields): string {
  return typeof toolType === "string" && toolType !== "" ? toolType.toLowerCase() : "google_tool";
}
