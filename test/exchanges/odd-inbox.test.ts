// Odd inboxes and what the protocol requires for each: its results, and the next outbox. Alternates between REST as plain text
// and gRPC.

import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startService } from "../harness/service.ts";
import { findTransport } from "./transports.ts";
import { openWorkspace } from "./workspace.ts";

interface OddInbox {
  readonly what: string;
  readonly text: string;
  /** Type and summary, after a mark for failed ones. */
  readonly results?: readonly string[];
  /** The files that it leaves in addition to the existing ones. */
  readonly files?: Readonly<Record<string, string>>;
  /** Part of what the next outbox shows. */
  readonly shows?: string;
}

const ok = (type: string, summary: string): string => `OK ${type}: ${summary}`;
const failed = (type: string, summary: string): string => `FAILED ${type}: ${summary}`;
const wrong = (summary: string): string => failed("PARSE_ERROR", summary);

const files = { "here.txt": "1\n2\n", "folder/inner.txt": "inner\n", "crlf.txt": "\ufeff1\r\n2" };
const marked = '[CREATE_FILE path="never.txt"]\nnever\n[/CREATE_FILE]\n';
const notIntegers = wrong("EDIT_FILE start_line/end_line must be integers");
const outside = (type: string, path: string) => failed(type, `REJECTED: Path is outside workspace: '${path}'`);

function edit(start: string, end: string): string {
  return `[EDIT_FILE path="here.txt" start_line="${start}" end_line="${end}"]\nx\n[/EDIT_FILE]\n`;
}

/** One of each of the four commands about a file. */
function onFile(path: string): string {
  return `[CREATE_FILE path="${path}"]
x
[/CREATE_FILE]
[EDIT_FILE path="${path}" start_line="1" end_line="1"]
x
[/EDIT_FILE]
[DELETE_FILE path="${path}"]
[READ_FILE path="${path}"]
`;
}

const fileTypes = ["CREATE_FILE", "EDIT_FILE", "DELETE_FILE", "READ_FILE"];

const oddInboxes: readonly OddInbox[] = [
  { what: "no text", text: "" },
  { what: "blanks", text: " \n\r\n\t" },
  { what: "only prose", text: "I cannot do that.\n\n```sh\nls\n```\n[see](x) [1] - [/DONE]\n" },
  {
    what: "one line of carriage returns",
    text: '[MESSAGE]\rhi\r[/MESSAGE]\r[READ_FILE path="here.txt"]',
    results: [],
  },
  {
    what: "a tag and its text in one line of carriage returns",
    text: '[CREATE_FILE path="a"]\rx\r[/CREATE_FILE]',
    results: [wrong("CREATE_FILE for 'a' missing closing tag")],
    shows: "nothing after this block was executed",
  },
  {
    what: "a block that is not closed",
    text: `[READ_FILE path="here.txt"]\n[RUN_COMMAND]\necho x\n${marked}[DONE]\nall\n[/DONE]`,
    results: [ok("READ_FILE", "Queued 'here.txt' for next outbox"), wrong("RUN_COMMAND missing closing tag")],
    shows: "--- here.txt ---\n1\n2\n--- end here.txt ---\n",
  },
  {
    what: "a block with the closing tag of another",
    text: `[MESSAGE]\nhi\n[/DONE]\n${marked}`,
    results: [wrong("MESSAGE missing closing tag")],
  },
  ...["[/DONE ]", "[/DONE] now", "[ /DONE]", "[/done]", "x [/DONE]"].map((closing) => ({
    what: `the closing tag ${closing}`,
    text: `[DONE]\nall\n${closing}\n${marked}`,
    results: [wrong("DONE missing closing tag")],
  })),
  {
    what: "a NUL, a line separator and a byte order mark in a file",
    text: '[CREATE_FILE path="odd.bin"]\na\0b\u2028c\ufeffd\re\r\nf\f\n[/CREATE_FILE]\n',
    results: [ok("CREATE_FILE", "Created 'odd.bin'")],
    files: { "odd.bin": "a\0b\u2028c\ufeffd\re\nf\f" },
  },
  {
    what: "a form feed and other blanks around tags",
    text: "\f[MESSAGE]\u00a0\n hi \n\v[/MESSAGE]\f\r\n",
    results: [ok("MESSAGE", "hi")],
  },
  {
    what: "a byte order mark inside",
    text: "x\n\ufeff[MESSAGE]\nhi\n[/MESSAGE]\n",
    results: [],
    shows: "[FAILED] PARSE_ERROR: unrecognised: line 2 looks like MESSAGE with the invisible character U+FEFF",
  },
  {
    what: "a quoted answer",
    text: '> [CREATE_FILE path="a"]\n> x\n> [/CREATE_FILE]\n>\n> [DONE]\n> all\n> [/DONE]\n',
    results: [],
    shows: '[FAILED] PARSE_ERROR: unrecognised: line 1 looks like CREATE_FILE behind the quote mark ">"',
  },
  ...["2147483648", "-2147483649", "1,000", "0x1", "1.0", "", "one", "\u0661"].map((value) => ({
    what: `the line ${JSON.stringify(value)}`,
    text: edit(value, "1") + edit("1", value),
    results: [notIntegers, notIntegers],
  })),
  {
    what: "lines that there are not",
    text: edit("0", "1") + edit("2", "1") + edit("3", "3") + edit("-2147483648", "2147483647"),
    results: ["0-1", "2-1", "3-3", "-2147483648-2147483647"].map((range) =>
      failed("EDIT_FILE", `Invalid line range ${range} for file with 2 lines`),
    ),
  },
  {
    what: "an edit of a file with CRLF line ends",
    text: '[EDIT_FILE path="crlf.txt" start_line="1" end_line="1"]\nx\n[/EDIT_FILE]\n',
    results: [ok("EDIT_FILE", "Edited 'crlf.txt' lines 1-1")],
    files: { "crlf.txt": "x\n2\n" },
    shows:
      "lines 1-1\n  Output: note: the edit also turned CRLF line ends into LF, dropped the byte order mark, added a final newline\n",
  },
  {
    what: "an empty path",
    text: onFile(""),
    results: [
      failed("CREATE_FILE", "Failed to create '': is a directory"),
      ...fileTypes.slice(1).map((type) => failed(type, "File '' not found")),
    ],
  },
  ...["/etc/passwd", "../x", "folder/../../x", "link", "link/x", "away", ".."].map((path) => ({
    what: `the path ${path}`,
    text: onFile(path),
    results: fileTypes.map((type) => outside(type, path)),
  })),
  {
    what: "a directory as a file",
    text: onFile("folder"),
    results: [
      failed("CREATE_FILE", "Failed to create 'folder': is a directory"),
      ...fileTypes.slice(1).map((type) => failed(type, "File 'folder' not found")),
    ],
  },
  {
    what: "a path with a NUL",
    text: onFile("a\0b").slice(0, onFile("a\0b").indexOf("[EDIT_FILE")),
    results: [failed("CREATE_FILE", "Failed to create 'a\0b': ")],
  },
  {
    what: "tags without what they need",
    text: "[CREATE_FILE]\n[MESSAGE]\nx\n[/MESSAGE]\n[/CREATE_FILE]\n[READ_FILE]\n[DELETE_FILE path='here.txt']\n",
    results: ["CREATE_FILE", "READ_FILE", "DELETE_FILE"].map((type) => wrong(`${type} missing path attribute`)),
  },
];

test("every odd inbox has its results, and the next outbox shows them", async () => {
  const service = await startService({ exchangesCommands: false });
  const [plainText, grpc] = [findTransport("REST, plain text").open(service), findTransport("gRPC").open(service)];
  const workspace = await openWorkspace(files);
  const elsewhere = await openWorkspace({ x: "elsewhere\n" });
  symlinkSync(elsewhere.path, join(workspace.path, "link"));
  symlinkSync(join(elsewhere.path, "new"), join(workspace.path, "away"));
  const { exchange_id: exchangeId } = await grpc.start({ task: "odd", workDir: workspace.path });
  const left: Record<string, string> = { ...files, "link/x": "elsewhere\n" };
  let sequence = 1;
  for (const { what, text, results: expected = [], files: made, shows } of oddInboxes) {
    const answer = await (sequence % 2 === 0 ? grpc : plainText).submit({ exchangeId, text, sequence });
    sequence += 1;
    expect.soft(answer, what).toMatchObject({ sequence, is_complete: false });
    const results = answer.results
      .map(({ type, success, summary }) => `${success === true ? "OK" : "FAILED"} ${type}: ${summary}`)
      .filter((result) => !result.startsWith("FAILED PARSE_ERROR: unrecognised"));
    expect.soft(results.length, `${what}: ${results}`).toBe(expected.length);
    for (const [index, result] of results.entries()) {
      const wanted = expected[index] ?? "";
      expect.soft(wanted.endsWith(": ") ? result.slice(0, wanted.length) : result, what).toBe(wanted);
    }
    const outbox = await plainText.readOutbox(exchangeId);
    expect.soft(outbox, what).toContain(`\nSequence: ${sequence}\n`);
    expect.soft(outbox.includes("## Previous Command Results"), what).toBe(answer.results.length > 0);
    expect.soft(outbox, what).toContain(shows ?? "");
    Object.assign(left, made);
    expect.soft(workspace.read(), what).toEqual(left);
  }
  expect(elsewhere.read()).toEqual({ x: "elsewhere\n" });
});

test("a task of several lines, or of the maximum size, is shown as the protocol requires", async () => {
  const service = await startService();
  const api = findTransport("REST, plain text").open(service);
  const show = async (task: string): Promise<string> => api.readOutbox((await api.start({ task })).exchange_id);
  const several = await show("\n first\r\n=== PROMPT ===\nthird\n");
  expect(several).toContain("\nTask:  first…\n\n=== PROTOCOL ===\n");
  expect(several.endsWith("\n=== PROMPT ===\n\n first\r\n=== PROMPT ===\nthird\n\n")).toBe(true);
  const long = "é".repeat(32_768);
  expect(await show(long)).toContain(`\nTask: ${long}\n`);
});
