// Sets members of a JSON text in place: every other byte stays as it was.

import type { ReadDocument, Span } from "./json.ts";

/** Sets members to `members`, whose values are JSON text. Existing members are replaced in place; new ones go behind the last. */
export function setMembers(document: ReadDocument, members: Readonly<Record<string, string>>): string {
  const { text, spans } = document;
  const added: [string, string][] = [];
  const edits: (Span & { readonly text: string })[] = [];
  for (const [name, value] of Object.entries(members)) {
    const span = spans.get(name);
    if (span === undefined) {
      added.push([name, value]);
    } else {
      edits.push({ ...span, text: value });
    }
  }
  const at = findEnd(document);
  edits.push({ start: at, end: at, text: printAdded(added, document) });
  edits.sort((a, b) => a.start - b.start);
  let result = "";
  let done = 0;
  for (const edit of edits) {
    result += text.slice(done, edit.start) + edit.text;
    done = edit.end;
  }
  return result + text.slice(done);
}

/** Returns the position behind the last member, or behind the brace of an empty object. */
function findEnd({ text, spans }: ReadDocument): number {
  return spans.size === 0 ? text.indexOf("{") + 1 : Math.max(...[...spans.values()].map(({ end }) => end));
}

/** Prints new members in the layout of the first one: on the same line, or each on its own line. */
function printAdded(members: readonly [string, string][], { text, spans }: ReadDocument): string {
  const [, gap = ""] = /^\s*\{(\s*)/.exec(text) ?? [];
  if (spans.size === 0) {
    return members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",");
  }
  const colon = gap === "" ? ":" : ": ";
  return members.map(([name, value]) => `,${gap}${JSON.stringify(name)}${colon}${value}`).join("");
}
