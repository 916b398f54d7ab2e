// The exchange and the outbox that a text names.

import { describe, expect, test } from "vitest";
import { readHeader } from "../../../src/protocols/exchange/inbox/header.ts";

const both = { session: "a1b2c3d4", sequence: 2 };

describe("a section HEADER", () => {
  test("counts anywhere in the text, up to the next section", () => {
    const section = "=== HEADER ===\r\nSession: a1b2c3d4\r\n\r\n Sequence: 2\r\nTask: x\r\n\r\n";
    expect(readHeader(section)).toEqual(both);
    expect(readHeader(`Sure!\n\n${section}=== PROMPT ===\nSession: 00000000`)).toEqual(both);
    expect(readHeader("=== HEADER ===\nSession: a1b2c3d4\n=== PROTOCOL ===\nSequence: 2")).toEqual({
      session: both.session,
    });
  });

  test("gives the first of two values", () => {
    expect(readHeader("=== HEADER ===\nSequence: 2\nSession: a1b2c3d4\nSequence: 3\nSession: 00000000")).toEqual(both);
  });

  test("without values is a header without values, even if values follow elsewhere", () => {
    expect(readHeader("Session: a1b2c3d4\n=== HEADER ===\nTask: x")).toEqual({});
  });

  test("within a block is text", () => {
    const block = '[CREATE_FILE path="a"]\n=== HEADER ===\nSession: a1b2c3d4\n[/CREATE_FILE]';
    expect(readHeader(block)).toEqual({});
    expect(readHeader(`Sequence: 2\n${block}`)).toEqual({ sequence: 2 });
  });
});

describe("the first lines", () => {
  test.each(["Session: a1b2c3d4\nSequence: 2", "\n\n  Session: A1B2C3D4 \n\nSequence:\t02\nI say\nSession: 00000000"])(
    "count: %j",
    (text) => {
      expect(readHeader(text)).toEqual(both);
    },
  );

  test("count in either order, and each without the other", () => {
    expect(readHeader("Sequence: 2\nSession: a1b2c3d4")).toEqual(both);
    expect(readHeader("Sequence: 2\n[DONE]")).toEqual({ sequence: 2 });
    expect(readHeader("Session: a1b2c3d4\nSession: 00000000")).toEqual({ session: both.session });
  });

  test.each([
    "",
    "I say\nSession: a1b2c3d4\nSequence: 2",
    "Session: a1b2c3d4 it is",
    "Session: a1b2c3d",
    "Session: a1b2c3d4e",
    "Session: a1b2c3dg",
    "session: a1b2c3d4",
    "- Session: a1b2c3d4",
    "Sequence: -1",
    "Sequence: 1.0",
    "Sequence: two",
    "Sequence: 1234567890123456",
  ])("do not count: %j", (text) => {
    expect(readHeader(text)).toEqual({});
  });
});
