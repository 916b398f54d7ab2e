// The text of server-sent events: its exact framing. Every event is parsed back as the same single event.

import { createParser, type EventSourceMessage } from "eventsource-parser";
import { assert, constantFrom, integer, oneof, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeSseEvent, sseHeartbeat, sseOpening } from "../../src/surfaces/rest/sse.ts";

function parse(text: string): EventSourceMessage[] {
  const messages: EventSourceMessage[] = [];
  createParser({ onEvent: (message) => messages.push(message) }).feed(text);
  return messages;
}

describe("encodeSseEvent", () => {
  test("frames an event as the Agent Runner document does", () => {
    expect(encodeSseEvent({ id: "", type: "text", data: '{"content":"hi"}' })).toBe(
      'event: text\ndata: {"content":"hi"}\n\n',
    );
  });

  test("puts the id first", () => {
    expect(encodeSseEvent({ id: "r.1", type: "done", data: "{}" })).toBe("id: r.1\nevent: done\ndata: {}\n\n");
  });

  test("is read back as exactly that event, with any content", async () => {
    const nasty = constantFrom("a", " ", ":", "\n", "\r", "data: x", "\n\n", "é", "\u2028", "\0", "🐳", "\ufeff");
    const text = oneof(string({ unit: nasty }), string({ unit: "binary" }));
    await assert(
      property(text, text, text, (id, type, data) => {
        const kept = (part: string): string => part.replaceAll(/[\r\n\0]/g, "");
        const messages = parse(sseOpening + encodeSseEvent({ id, type, data }) + sseHeartbeat);
        expect(messages).toEqual([
          {
            id: kept(id) === "" ? undefined : kept(id),
            event: kept(type) === "" ? undefined : kept(type),
            data: data.replaceAll(/\r\n|\r/g, "\n"),
          },
        ]);
      }),
    );
  });

  test("is read as exactly its events, with the bytes cut anywhere", async () => {
    const data = string({ unit: "binary" });
    await assert(
      property(data, data, integer({ min: 1, max: 7 }), (first, second, chunkBytes) => {
        const events = [first, second].map((each, index) => ({ id: `r.${index}`, type: "text", data: each }));
        const bytes = new TextEncoder().encode(events.map(encodeSseEvent).join(sseHeartbeat));
        const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
        const messages: EventSourceMessage[] = [];
        const parser = createParser({ onEvent: (message) => messages.push(message) });
        for (let at = 0; at < bytes.length; at += chunkBytes) {
          parser.feed(decoder.decode(bytes.subarray(at, at + chunkBytes), { stream: true }));
        }
        expect(messages.map(({ id, data: text }) => [id, text])).toEqual(
          events.map((each) => [each.id, each.data.replaceAll(/\r\n|\r/g, "\n")]),
        );
      }),
    );
  });
});
