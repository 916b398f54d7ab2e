// Generated outboxes: the frame holds for any task, results and files, and everything fits into one message.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommandResult } from "../../../src/protocols/exchange/command.ts";
import { instructions } from "../../../src/protocols/exchange/outbox/instructions.ts";
import { type Outbox, outboxBytesMax, renderOutbox } from "../../../src/protocols/exchange/outbox/render.ts";
import type { RequestedFile } from "../../../src/protocols/exchange/outbox/requested-file.ts";
import { filesMax, pathBytesMax, requestedBytesMax } from "../../../src/protocols/exchange/outbox/workspace.ts";

const markers = [
  "=== HEADER ===",
  "=== PROTOCOL ===",
  "=== CONTEXT ===",
  "=== PROMPT ===",
  "## Workspace Files",
  "## Previous Command Results",
  "## Requested File Contents",
  "--- end a ---",
  "Sequence: 9",
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...markers, "\n", "\r\n", "", " "), fc.string({ unit: "binary" })), { maxLength: 8 })
  .map((parts) => parts.join(""));
const path = fc.oneof(text, fc.constantFrom("a", "src/b.ts")).filter((each) => each !== "");

const result: fc.Arbitrary<CommandResult> = fc.record({
  type: fc.constantFrom("CREATE_FILE", "RUN_COMMAND", "MESSAGE", "PARSE_ERROR"),
  success: fc.boolean(),
  summary: text,
  output: text,
});

const requested: fc.Arbitrary<RequestedFile> = fc.oneof(
  fc.record({ path, kind: fc.constant("text" as const), text }),
  fc.record({ path, kind: fc.constant("text" as const), text, cutOfBytes: fc.nat() }),
  fc.record({ path, kind: fc.constant("binary" as const), bytes: fc.nat() }),
  fc.record({ path, kind: fc.constantFrom("missing" as const, "left-out" as const) }),
);

const outboxes: fc.Arbitrary<Outbox> = fc.record({
  exchangeId: fc.constantFrom("a1b2c3d4", "00000000"),
  sequence: fc.integer({ min: 1, max: 12_000 }),
  task: text.filter((each) => each.trim() !== ""),
  files: fc.record({
    files: fc.array(fc.record({ path, bytes: fc.nat() }), { maxLength: 4 }),
    moreFiles: fc.nat({ max: 3 }),
    leftOut: fc.constantFrom(undefined, "stopped after 10 seconds"),
  }),
  results: fc.array(result, { maxLength: 4 }),
  requested: fc.array(requested, { maxLength: 4 }),
});

/** Removes the given beginning from the text; fails when the text does not begin with it. */
function take(rest: string, beginning: string): string {
  expect(rest.slice(0, beginning.length)).toBe(beginning);
  return rest.slice(beginning.length);
}

function takeLine(rest: string): [line: string, rest: string] {
  const end = rest.indexOf("\n");
  expect(end).toBeGreaterThan(-1);
  return [rest.slice(0, end), rest.slice(end + 1)];
}

test("header, sections and markers stand in order for any task, results and files", () => {
  fc.assert(
    fc.property(outboxes, (outbox) => {
      const rendered = renderOutbox(outbox);
      expect(rendered.endsWith("\n")).toBe(true);
      expect(rendered.isWellFormed()).toBe(true);
      let rest = take(rendered, `=== HEADER ===\nSession: ${outbox.exchangeId}\nSequence: ${outbox.sequence}\nTask: `);
      const [taskLine, afterHeader] = takeLine(rest);
      expect(outbox.task.startsWith(taskLine) || outbox.task.includes(taskLine.replace(/…$/, ""))).toBe(true);
      rest = take(afterHeader, `\n=== PROTOCOL ===\n${instructions}\n\n=== CONTEXT ===\n## Workspace Files\n`);
      rest = takeFiles(rest, outbox);
      rest = takeResults(rest, outbox);
      rest = takeRequested(rest, outbox);
      rest = take(rest, "=== PROMPT ===\n");
      expect(rest).toBe(
        outbox.sequence === 1
          ? `${outbox.task}\n`
          : "Continue working on the task based on the results above. " +
              "If the task is complete, send [DONE] with a summary.\n",
      );
    }),
    { numRuns: 300 },
  );
});

/** Each file takes one line, whichever characters its name has. */
function takeFiles(afterTitle: string, { files: { files, moreFiles, leftOut } }: Outbox): string {
  let rest = afterTitle;
  for (const { bytes } of files) {
    const [line, behind] = takeLine(rest);
    expect(line).toMatch(/^ {2}[^\r\n]+ \(\d+ bytes\)$/);
    expect(line.endsWith(` (${bytes} bytes)`)).toBe(true);
    rest = behind;
  }
  if (files.length === 0 && moreFiles === 0 && leftOut === undefined) {
    rest = take(rest, "(empty workspace)\n");
  }
  rest = moreFiles > 0 ? take(rest, `  ... (${moreFiles} more files)\n`) : rest;
  rest = leftOut === undefined ? rest : take(rest, `  ... (${leftOut})\n`);
  return take(rest, "\n");
}

function takeResults(before: string, { sequence, results }: Outbox): string {
  if (sequence === 1 || results.length === 0) {
    return before;
  }
  let rest = take(before, "## Previous Command Results\n");
  for (const { type, success, summary, output } of results) {
    rest = take(rest, `[${success ? "OK" : "FAILED"}] ${type}: ${summary}\n`);
    rest = output.trim() === "" ? rest : take(rest, `  Output: ${output}\n`);
  }
  return take(rest, "\n");
}

function takeRequested(before: string, { requested: files }: Outbox): string {
  if (files.length === 0) {
    return before;
  }
  let rest = take(before, "## Requested File Contents\n");
  for (const file of files) {
    const [head, behind] = takeLine(rest);
    rest = behind;
    if (file.kind === "missing" || file.kind === "left-out") {
      expect(head).toMatch(/^--- .+ --- \((file not found or access denied|left out: .*)\)$/);
      continue;
    }
    expect(head).toMatch(/^--- .+ ---$/);
    if (file.kind === "binary") {
      rest = take(rest, `(binary, ${file.bytes} bytes)\n`);
    } else {
      rest = take(rest, file.text.endsWith("\n") ? file.text : `${file.text}\n`);
      rest =
        file.cutOfBytes === undefined ? rest : take(rest, `... (file truncated, ${file.cutOfBytes} bytes in all)\n`);
    }
    rest = take(rest, `${head.replace("--- ", "--- end ")}\n`);
  }
  return take(rest, "\n");
}

test("the largest outbox fits one message", () => {
  const pathBytes = Math.floor(pathBytesMax / filesMax);
  // A line end takes two characters in the listing.
  const files = Array.from({ length: filesMax }, () => ({ path: "\n".repeat(pathBytes), bytes: 2 ** 53 - 1 }));
  const results = Array.from({ length: 1_000 }, (): CommandResult => {
    return { type: "CREATE_FILE", success: false, summary: "\u20ac".repeat(4_000), output: "\u20ac".repeat(4_000) };
  });
  const largest: Outbox = {
    exchangeId: "a1b2c3d4",
    sequence: 2,
    task: "t".repeat(65_536),
    files: { files, moreFiles: 1_000_000, leftOut: "stopped after 1000000 entries" },
    results,
    requested: [{ path: "x", kind: "text", text: "x".repeat(requestedBytesMax) }],
  };
  const bytes = [1, 2].map((sequence) => Buffer.byteLength(renderOutbox({ ...largest, sequence })));
  expect(Math.max(...bytes)).toBeLessThan(outboxBytesMax);
  // It is as large as the limits of its parts allow, not merely below the maximum.
  expect(Math.max(...bytes)).toBeGreaterThan(3_500_000);
});
