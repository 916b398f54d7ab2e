// The shared cases of the protocol, the part about parsing.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Command } from "../../../src/protocols/exchange/command.ts";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";

interface Vector {
  readonly name: string;
  readonly inbox: string;
  readonly note?: string;
  readonly expect: readonly { readonly type: string; readonly error?: string }[];
  readonly extra_error_allowed?: boolean;
}

const { vectors }: { vectors: readonly Vector[] } = JSON.parse(
  readFileSync(new URL("../../vectors/coding-agent.json", import.meta.url), "utf8"),
);

test("the vectors contain all cases", () => {
  expect(vectors.length).toBeGreaterThan(50);
});

test.each(vectors)("$name: $note", ({ inbox, expect: expected, extra_error_allowed }) => {
  const found = parseInbox(inbox);
  const last = found.at(-1);
  const hasExtra = last?.type === "PARSE_ERROR" && last.message.startsWith("unrecognised");
  expect(hasExtra && extra_error_allowed !== true).toBe(false);
  expect((hasExtra ? found.slice(0, -1) : found).map(toVector)).toEqual(expected);
});

function toVector(command: Command): object {
  return command.type === "PARSE_ERROR" ? { type: "ERROR", error: command.message } : command;
}
