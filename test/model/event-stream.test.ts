// Server-sent events as parsed by a reader written from the HTML standard. For any content and any split of the bytes, the
// reader gets the events that were written, with the ids to resume from.

import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeSseEvent, sseHeartbeat, sseOpening } from "../../src/surfaces/rest/sse.ts";
import { type StrictEvent, StrictSseReader } from "./strict-sse.ts";

const nasty = fc.constantFrom(
  ...["a", " ", "  ", ":", ": ", "\n", "\r", "\r\n", "\n\n", "\r\r", "data: x", "id: 9", "event: done", "retry: 1"],
  ...["\0", "\u2028", "\u2029", "\x85", "\v", "\f", "\ufeff", "é", "😀", "\u{10ffff}", "\ufffd"],
);
const part = fc.oneof(
  fc.array(nasty, { maxLength: 8 }).map((list) => list.join("")),
  fc.string({ unit: "binary" }),
);
const events = fc.array(fc.record({ id: part, type: part, data: part, isQuietBefore: fc.boolean() }), { maxLength: 5 });
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, "");
}

/** After an event without an id the reader keeps its last id. */
function expected(written: readonly StrictEvent[]): StrictEvent[] {
  let lastId = "";
  return written.map(({ id, type, data }) => {
    lastId = oneLine(id) || lastId;
    return { id: lastId, type: oneLine(type) || "message", data: data.replaceAll(/\r\n|\r/g, "\n") };
  });
}

test("the reader gets the events that were written, however the bytes are split", () => {
  fc.assert(
    fc.property(events, cuts, (written, lengths) => {
      const text = written.map((each) => (each.isQuietBefore ? sseHeartbeat : "") + encodeSseEvent(each)).join("");
      const bytes = Buffer.from(sseOpening + text);
      const reader = new StrictSseReader();
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const length = lengths[turn % lengths.length] ?? 1;
        reader.feed(bytes.subarray(at, at + length));
        at += length;
      }
      reader.end();
      expect(reader.events).toEqual(expected(written));
    }),
    { numRuns: 1_000 },
  );
});
