// The last stage before a text leaves: takes out the secrets of this process and whatever looks like a secret of somebody's.
// It works on what is written, not on what was meant to be, so it does not matter how a secret got there.
//
// Values of fewer than eight characters are not searched for: they would match everywhere.

import { createValueFinder, type ValueFinder } from "./find-values.ts";
import { redacted } from "./redact.ts";
import { formsOf } from "./secret-forms.ts";

export interface Scrubber {
  /** Learns more secrets; those of before stay. */
  hide(secrets: readonly string[]): void;
  /** A text that is no JSON. */
  scrubText(text: string): string;
  /** A line of JSON, which stays JSON. */
  scrubLine(line: string): string;
}

export function createScrubber(secrets: readonly string[] = []): Scrubber {
  const forms = new Set<string>();
  let finder = createValueFinder(forms);
  const hide = (more: readonly string[]): void => {
    for (const form of more.flatMap(formsOf)) {
      forms.add(form);
    }
    finder = createValueFinder(forms);
  };
  hide(secrets);
  return {
    hide,
    scrubText: (text) => replacePatterns(replaceValues(text, finder, false)),
    scrubLine: (line) => replacePatterns(replaceValues(line, finder, true)),
  };
}

function replaceValues(text: string, finder: ValueFinder, isJson: boolean): string {
  let scrubbed = "";
  let copied = 0;
  for (let found = finder.find(text, 0); found !== undefined; ) {
    // The `n` of a line break in JSON is no letter of a secret, and without it the line would be broken.
    if (isJson && isEscaped(text, found.start)) {
      found = finder.find(text, found.start + 1);
      continue;
    }
    scrubbed += text.slice(copied, found.start) + redacted;
    copied = found.end;
    found = finder.find(text, copied);
  }
  return copied === 0 ? text : scrubbed + text.slice(copied);
}

/** True when the character belongs to an escape: an odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === "\\") {
    start--;
  }
  return (at - start) % 2 === 1;
}

/**
 * Keys of providers, keys and tickets of ours, bearer tokens, and who logs in within a URL. Each part is bounded or eats
 * what it has seen, so that a hostile text costs no more than a long one.
 */
const patterns =
  /\b(?:sk-|rk_|rt_)[\w-]{16,}|(?<=\bbearer(?:%20|\+| ){1,4})[\w.~+/=-]{8,}|(?<=:\/\/)[^\s/?#@"'<>\\]{1,512}@/gi;

function replacePatterns(text: string): string {
  return text.replace(patterns, (match) => (match.endsWith("@") ? `${redacted}@` : redacted));
}
