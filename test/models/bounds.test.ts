// The limits of an event stream: of a line, of an event, and of what all streams hold together.

import { describe, expect, test } from "vitest";
import { lineBytesMax, ownBytesMax, SharedRoom, StreamBounds } from "../../src/agent/models/wire/bounds.ts";

const chunk = Buffer.alloc(64 * 1024, "x");
const blank = Buffer.from("\n\n");

/** Checks chunks of this many bytes together. Returns the last failure. */
function feed(bounds: StreamBounds, bytes: number): ReturnType<StreamBounds["check"]> {
  let failure: ReturnType<StreamBounds["check"]>;
  for (let left = bytes; left > 0 && failure === undefined; left -= chunk.byteLength) {
    failure = bounds.check(chunk.subarray(0, left));
  }
  return failure;
}

test("a line may have 16 MiB, and an event of many lines not much more", () => {
  const bounds = new StreamBounds("p");
  expect(lineBytesMax).toBe(16 * 1024 * 1024);
  expect(feed(bounds, lineBytesMax)).toBeUndefined();
  expect(bounds.check(blank)).toBeUndefined();
  expect(feed(bounds, lineBytesMax)).toBeUndefined();
  expect(feed(bounds, 1)).toMatchObject({
    code: "unreadable",
    retryable: false,
    message: expect.stringContaining("a line"),
  });

  const many = new StreamBounds("p");
  expect(feed(many, lineBytesMax)).toBeUndefined();
  expect(many.check(Buffer.from("\n"))).toBeUndefined();
  expect(feed(many, 2 * chunk.byteLength)).toMatchObject({ message: expect.stringContaining("an event") });
});

describe("the room that all streams share", () => {
  const bytes = chunk.byteLength;
  const openStreams = (roomBytes: number): readonly [StreamBounds, StreamBounds] => {
    const room = new SharedRoom(roomBytes);
    return [new StreamBounds("p", room), new StreamBounds("p", room)];
  };

  test("fails the stream that finds none, which may be tried again, and no stream with small events", () => {
    const [large, other] = openStreams(bytes);
    expect(feed(large, ownBytesMax + bytes)).toBeUndefined();
    expect(feed(other, ownBytesMax)).toBeUndefined();
    expect(feed(other, 1)).toMatchObject({ type: "failure", code: "no_room", retryable: true });
    expect(feed(large, 1)).toMatchObject({ code: "no_room" });
  });

  test("is given back at the end of the event, and at the end of the stream", () => {
    const [one, other] = openStreams(bytes);
    expect(feed(one, ownBytesMax + bytes)).toBeUndefined();
    expect(one.check(blank)).toBeUndefined();
    expect(feed(other, ownBytesMax + bytes)).toBeUndefined();
    other[Symbol.dispose]();
    other[Symbol.dispose]();
    expect(feed(one, ownBytesMax + bytes - 2)).toBeUndefined();
    expect(feed(one, bytes)).toMatchObject({ code: "no_room" });
  });
});
