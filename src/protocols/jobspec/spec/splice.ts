// Members of a JSON text set without printing it anew: every byte that is not part of them stays as it was.

import type { ReadDocument, Span } from "./json.ts";

/** The values are JSON text. One that is there is replaced where it stands; new members go behind the last one. */
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

/** Behind the last member, or behind the brace where there is none. */
function findEnd({ text, spans }: ReadDocument): number {
  return spans.size === 0 ? text.indexOf("{") + 1 : Math.max(...[...spans.values()].map(({ end }) => end));
}

/** Each in the way in which the first member stands: on the same line, or on one of its own. */
function printAdded(members: readonly [string, string][], { text, spans }: ReadDocument): string {
  const [, gap = ""] = /^\s*\{(\s*)/.exec(text) ?? [];
  if (spans.size === 0) {
    return members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",");
  }
  const colon = gap === "" ? ":" : ": ";
  return members.map(([name, value]) => `,${gap}${JSON.stringify(name)}${colon}${value}`).join("");
}
