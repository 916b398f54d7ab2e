// The shared cases of the protocol, the part about execution.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Command } from "../../../src/protocols/exchange/command.ts";
import { filesBelow, setStage } from "./stage.ts";

interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly inbox: string;
  readonly results: readonly {
    readonly commandType: string;
    readonly summary: string;
    readonly success: boolean;
    readonly summary_match?: "prefix" | "exact";
  }[];
  readonly readFileRequests: readonly string[];
  readonly files_after: Readonly<Record<string, string>>;
}

const { executor_vectors: cases }: { executor_vectors: Case[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../vectors/coding-agent.json"), "utf8"),
);

test("the vectors contain cases of execution", () => {
  expect(cases.length).toBeGreaterThan(15);
});

test.each(cases)("$name", async ({ files, inbox, results, readFileRequests, files_after }) => {
  const { area, run } = setStage();
  for (const [path, content] of Object.entries(files)) {
    area.write(path, content);
  }
  const found = [];
  for (const command of readBlocks(inbox)) {
    found.push({ command, result: await run(command) });
  }
  expect(
    found.map(({ result: { type, summary, success } }, index) => {
      const { summary: expected = "", summary_match } = results[index] ?? {};
      const shown = summary_match === "prefix" ? summary.slice(0, expected.length) : summary;
      return { commandType: type, summary: shown, success };
    }),
  ).toEqual(results.map(({ commandType, summary, success }) => ({ commandType, summary, success })));
  const queued = found.flatMap(({ command, result }) =>
    command.type === "READ_FILE" && result.success ? [command.path] : [],
  );
  expect(queued).toEqual(readFileRequests);
  expect(filesBelow(area.root)).toEqual(files_after);
  expect(filesBelow(area.outside)).toEqual({});
});

/** A minimal parser that suffices for these cases; parsing has its own tests. */
function readBlocks(inbox: string): Command[] {
  const pattern =
    /^\[(?<type>\w+_FILE) path="(?<path>.*?)"(?: start_line="(?<start>\d+)" end_line="(?<end>\d+)")?\](?:\n(?<body>[\s\S]*?)\n\[\/\k<type>\])?/gm;
  return [...inbox.matchAll(pattern)].map(({ groups = {} }): Command => {
    const { type = "", path = "", start, end, body: content } = groups;
    switch (type) {
      case "READ_FILE":
      case "DELETE_FILE":
        return { type, path };
      case "CREATE_FILE":
        return content === undefined
          ? { type: "PARSE_ERROR", message: `CREATE_FILE for '${path}' missing closing tag` }
          : { type, path, content };
      case "EDIT_FILE":
        return { type, path, startLine: Number(start), endLine: Number(end), content: content ?? "" };
      default:
        return expect.fail(`no block of these cases: ${type}`);
    }
  });
}
