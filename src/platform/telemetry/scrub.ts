// The last stage before a text leaves the process: removes the process's own secrets, and all texts that look like a foreign
// secret. It works on the final text, so it does not matter how a secret got there.
//
// Values of fewer than eight characters are not searched: they would match everywhere.

import { hideCredentials, redacted } from "../base/hide-credentials.ts";
import { createValueFinder, type ValueFinder } from "./find-values.ts";
import { formsOf } from "./secret-forms.ts";

/** Removes secrets from texts. */
export interface Scrubber {
  /** Adds secrets; the earlier ones stay. */
  hide(secrets: readonly string[]): void;
  /** Scrubs a text that is not JSON. */
  scrubText(text: string): string;
  /** Scrubs a line of JSON, which stays valid JSON. */
  scrubLine(line: string): string;
}

/** Returns a scrubber that knows the given secrets. */
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
    scrubText: (text) => hideCredentials(replaceValues(text, finder, false)),
    scrubLine: (line) => hideCredentials(replaceValues(line, finder, true)),
  };
}

/** Returns a function that removes these secrets, and nothing else, from a text. */
export function createHider(secrets: readonly string[]): (text: string) => string {
  const finder = createValueFinder(new Set(secrets.flatMap(formsOf)));
  return (text) => replaceValues(text, finder, false);
}

function replaceValues(text: string, finder: ValueFinder, isJson: boolean): string {
  let scrubbed = "";
  let copied = 0;
  for (let found = finder.find(text, 0); found !== undefined; ) {
    // In JSON, the `n` of the escape `\n` is not part of a secret; replacing it would break the line.
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

/** Returns true when the character belongs to an escape: an odd number of backslashes precedes it. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === "\\") {
    start--;
  }
  return (at - start) % 2 === 1;
}
