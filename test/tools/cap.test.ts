import { describe, expect, test } from "vitest";
import { CappedText, capContent, contentBytesMax } from "../../src/agent/tools/cap.ts";

describe("successful content", () => {
  test("of exactly the maximum is unchanged", () => {
    const text = "x".repeat(102_400);
    expect(capContent(text)).toBe(text);
  });

  test("of one more byte is cut and says how long it was", () => {
    expect(capContent("x".repeat(102_401))).toBe(
      `${"x".repeat(102_400)}\n... (truncated: showing 102400 of 102401 bytes)`,
    );
  });

  test("is counted in bytes of UTF-8, not in characters", () => {
    expect(capContent("ü".repeat(51_200))).toBe("ü".repeat(51_200));
    expect(capContent("ü".repeat(51_201))).toMatch(/^ü{51200}\n... \(truncated: showing 102400 of 102402 bytes\)$/);
  });

  test("is never cut inside a character", () => {
    const text = `x${"😀".repeat(30_000)}`;
    expect(capContent(text)).toBe(`x${"😀".repeat(25_599)}\n... (truncated: showing 102400 of 120001 bytes)`);
  });

  test("that was cut before is not cut again", () => {
    const cut = capContent("ü".repeat(60_000));
    expect(capContent(cut)).toBe(cut);
  });

  test("cannot evade the cut by imitating the notice in a longer text", () => {
    const forged = `${"x".repeat(102_401)}\n... (truncated: showing 102400 of 7 bytes)`;
    expect(capContent(forged)).toBe(
      `${"x".repeat(102_400)}\n... (truncated: showing 102400 of ${forged.length} bytes)`,
    );
  });
});

describe("a text that is collected in pieces", () => {
  test("reads the same as a text that is cut as a whole", () => {
    for (const pieceLength of [1, 7, 1000, 200_000]) {
      for (const length of [0, 100, contentBytesMax / 2, 60_000]) {
        const text = "ü".repeat(length);
        const collected = new CappedText();
        for (let at = 0; at < length; at += pieceLength) {
          collected.add(text.slice(at, at + pieceLength));
        }
        expect(collected.toString()).toBe(capContent(text));
      }
    }
  });
});
