// Reads live text aloud by the sentence: by the token it would be noise.

import { useEffect, useState } from "react";
import type { RunLog } from "./run-log.ts";

/** A screen reader needs about this long for a sentence. */
const everyMs = 2_000;
/** More takes minutes to hear; the text itself has it all. */
const spokenMax = 4_000;

export function LiveSpeech({ log }: { readonly log: RunLog }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    let [row, from] = [log.transcript.rows.at(-1), 0];
    if (row?.content.kind === "message") {
      from = row.content.charsDropped + row.content.text.length;
    }
    const timer = setInterval(() => {
      const last = log.transcript.rows.findLast(({ content }) => content.kind === "message");
      if (last?.content.kind !== "message") {
        return;
      }
      if (last !== row) {
        [row, from] = [last, 0];
      }
      const { text, isLive, charsDropped } = last.content;
      const end = charsDropped + (isLive ? endOfSentence(text) : text.length);
      if (end > from) {
        setSaid(text.slice(Math.max(0, from - charsDropped, end - charsDropped - spokenMax), end - charsDropped));
        from = end;
      }
    }, everyMs);
    return () => clearInterval(timer);
  }, [log]);
  return (
    <div className="unseen" aria-live="polite">
      {said}
    </div>
  );
}

function endOfSentence(text: string): number {
  const end = Math.max(...[". ", "! ", "? ", "\n"].map((mark) => text.lastIndexOf(mark)));
  return end + 1;
}
