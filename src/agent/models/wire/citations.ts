// Reads the sources that a provider names for a text. Formats write one source in many ways, so a reader takes the first member that
// has a value.

import type { ModelCitation } from "../model.ts";
import { asCount, asRecord } from "./frame.ts";

/** The maximum number of citations of a response: the contract has no more. */
const citationsMax = 256;

/** The maximum length of a member. A citation with a longer text loses the text, and with a longer URL it is left out. */
const charsMax = 8_192;

/** Collects the citations of one response. */
export class Citations {
  readonly #all = new Map<string, ModelCitation>();

  /** Adds citations; anything else than a list is skipped. A list repeats those of earlier lists. */
  add(citations: unknown): void {
    for (const each of Array.isArray(citations) ? citations : []) {
      const citation = readCitation(each);
      if (citation !== undefined && this.#all.size < citationsMax) {
        this.#all.set(JSON.stringify(citation), citation);
      }
    }
  }

  /** Returns them in the order in which they came; undefined for none. */
  all(): readonly ModelCitation[] | undefined {
    return this.#all.size === 0 ? undefined : [...this.#all.values()];
  }
}

/**
 * Reads a citation: a URL alone (Perplexity), an object, or an object in a member named by its type (`url_citation` of Chat
 * Completions, `web` of Gemini). Returns undefined for anything that names neither a URL nor a title.
 */
function readCitation(value: unknown): ModelCitation | undefined {
  const outer = typeof value === "string" ? { url: value } : asRecord(value);
  const fields = { ...outer, ...asRecord(outer.url_citation), ...asRecord(outer.web) };
  const url = textOf(fields.url ?? fields.uri ?? fields.source);
  const title = textOf(fields.title ?? fields.document_title ?? fields.filename);
  if (url === undefined && title === undefined) {
    return undefined;
  }
  return {
    url,
    title,
    text: textOf(fields.cited_text),
    start: asCount(fields.start_index),
    end: asCount(fields.end_index),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= charsMax ? value.toWellFormed() : undefined;
}
