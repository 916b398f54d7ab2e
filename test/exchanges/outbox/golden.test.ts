// Outboxes byte for byte, as in the protocol's document; test/exchanges/outbox/golden holds the full texts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FileListing } from "../../../src/agent/tools/search/request.ts";
import type { CommandResult, CommandType } from "../../../src/protocols/exchange/command.ts";
import { outboxFileName } from "../../../src/protocols/exchange/outbox/file-name.ts";
import { instructions } from "../../../src/protocols/exchange/outbox/instructions.ts";
import { type Outbox, renderOutbox } from "../../../src/protocols/exchange/outbox/render.ts";

const golden = (name: string): Buffer => readFileSync(join(import.meta.dirname, "golden", `${name}.txt`));
const emptyWorkspace: FileListing = { files: [], moreFiles: 0, leftOut: undefined };
const task = "Create a calculator app in C#";

function ok(type: CommandType, summary: string, output = ""): CommandResult {
  return { type, success: true, summary, output };
}

function failed(type: CommandType, summary: string, output = ""): CommandResult {
  return { type, success: false, summary, output };
}

function listing(files: Readonly<Record<string, number>>): FileListing {
  return { ...emptyWorkspace, files: Object.entries(files).map(([path, bytes]) => ({ path, bytes })) };
}

const first: Outbox = {
  exchangeId: "a1b2c3d4",
  sequence: 1,
  task,
  files: emptyWorkspace,
  results: [],
  requested: [],
};

const calculator = `using System;

public class Calculator
{
    public int Add(int a, int b) => a + b;
}
`;

const outboxes: Readonly<Record<string, Outbox>> = {
  "first-empty-workspace": first,
  "second-with-results": {
    ...first,
    sequence: 2,
    files: listing({ "src/Calculator.cs": 245, "src/Program.cs": 180, "tests/CalculatorTests.cs": 512 }),
    results: [
      ok("CREATE_FILE", "Created 'src/Calculator.cs'"),
      ok("RUN_COMMAND", "Ran 'dotnet build' (exit code 0)", "Build succeeded. 0 Warning(s) 0 Error(s)"),
      failed("EDIT_FILE", "File 'src/Missing.cs' not found"),
    ],
  },
  "requested-contents": {
    ...first,
    sequence: 10_000,
    files: listing({ "empty.txt": 0, "logo.png": 70, "open.txt": 8, "src/Calculator.cs": 93 }),
    results: [
      ok("READ_FILE", "Queued 'src/Calculator.cs' for next outbox"),
      failed("RUN_COMMAND", "Ran 'make' (exit code 2)", "make: *** No rule to make target 'all'.\n"),
      ok("MESSAGE", "Reading on.", " \n\t"),
    ],
    requested: [
      { path: "src/Calculator.cs", kind: "text", text: calculator },
      { path: "gone.txt", kind: "missing" },
      { path: "empty.txt", kind: "text", text: "" },
      { path: "open.txt", kind: "text", text: "two\nopen" },
      { path: "logo.png", kind: "binary", bytes: 70 },
      { path: "long.log", kind: "text", text: "first lines", cutOfBytes: 300_000 },
      { path: "more.log", kind: "left-out" },
    ],
  },
  "task-of-several-lines": {
    ...first,
    exchangeId: "00c0ffee",
    task: "Mend the build\n  and then, in this order:\n\n=== PROMPT ===\n1. run it",
    files: { ...listing({ Makefile: 12 }), moreFiles: 7, leftOut: "stopped after 10 seconds" },
  },
  "output-that-ends-in-a-newline": {
    ...first,
    sequence: 3,
    task: "List",
    files: listing({ a: 1 }),
    results: [ok("RUN_COMMAND", "Ran 'ls -l' (exit code 0)", "total 4\na\n")],
  },
};

describe("an outbox is, byte for byte,", () => {
  test.each(Object.entries(outboxes))("%s", (name, outbox) => {
    expect(Buffer.from(renderOutbox(outbox)).toString()).toBe(golden(name).toString());
    expect(Buffer.from(renderOutbox(outbox)).equals(golden(name))).toBe(true);
  });

  test("the shared example", () => {
    const vectors = JSON.parse(readFileSync(join(import.meta.dirname, "../../vectors/coding-agent.json"), "utf8")) as {
      readonly outbox_examples: readonly { readonly name: string; readonly skeleton: string }[];
    };
    expect(vectors.outbox_examples.map(({ name }) => name)).toEqual(["seq1-empty-workspace"]);
    for (const { skeleton } of vectors.outbox_examples) {
      expect(renderOutbox(first)).toBe(skeleton.replace("{PROTOCOL}", () => instructions));
    }
  });
});

test("the first outbox shows no results, even after an import with results", () => {
  expect(renderOutbox({ ...first, results: [ok("MESSAGE", "hello")] })).toBe(renderOutbox(first));
});

test("a header shows the first line of the task that is not blank", () => {
  const headerOf = (text: string): string | undefined =>
    /^Task: .*$/m.exec(renderOutbox({ ...first, task: text }))?.[0];
  expect(headerOf("a\r\nb")).toBe("Task: a…");
  expect(headerOf("a\rb")).toBe("Task: a…");
  expect(headerOf("\n \na b\n\n")).toBe("Task: a b");
});

test("a workspace that could not be read is not called empty", () => {
  const text = renderOutbox({ ...first, files: { ...emptyWorkspace, leftOut: "the workspace cannot be read" } });
  expect(text).toContain("## Workspace Files\n  ... (the workspace cannot be read)\n\n=== PROMPT");
});

test("an unpaired surrogate is replaced", () => {
  const text = renderOutbox({ ...first, sequence: 2, results: [ok("RUN_COMMAND", "Ran 'x'", "cut \ud83d")] });
  expect(text).toContain("  Output: cut \ufffd\n");
});

test("files of outboxes are numbered with four digits, or more when needed", () => {
  expect([1, 2, 9_999, 10_000, 1_000_000].map((sequence) => outboxFileName("a1b2c3d4", sequence))).toEqual([
    "a1b2c3d4_seq0001.txt",
    "a1b2c3d4_seq0002.txt",
    "a1b2c3d4_seq9999.txt",
    "a1b2c3d4_seq10000.txt",
    "a1b2c3d4_seq1000000.txt",
  ]);
});
