// The sources that a model cites in a message, in the order of its text.

import type { Citation } from "#gen/runnel/v1/message_pb.js";
import { visibleText } from "../lib/visible-text.ts";
import { OuterLink } from "../ui/markdown.tsx";

/** A source may be a whole page. */
const quotedCharsMax = 300;

export function Sources({ citations }: { readonly citations: readonly Citation[] }) {
  return (
    <ol className="sources" aria-label="Sources">
      {citations.map(({ url, title, text }, index) => (
        <li key={index} dir="auto">
          {/^https?:/i.test(url) && URL.canParse(url) ? (
            <OuterLink url={url} label={visibleText(title || url)} />
          ) : (
            visibleText(title || url || "a document of the conversation")
          )}
          {text !== "" && <q>{visibleText(shorten(text))}</q>}
        </li>
      ))}
    </ol>
  );
}

function shorten(text: string): string {
  return text.length > quotedCharsMax ? `${text.slice(0, quotedCharsMax)}…` : text;
}
