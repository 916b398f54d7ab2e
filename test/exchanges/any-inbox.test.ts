// Any text as an inbox: the parser and executor of the driver process it, nothing throws, and the workspace afterwards is
// exactly what a strict reading of the text makes of it.

import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Commands } from "../../src/agent/tools/bash/commands.ts";
import type { Command, CommandResult } from "../../src/protocols/exchange/command.ts";
import { createExecutor, type Executor } from "../../src/protocols/exchange/execute/executor.ts";
import { parseInbox } from "../../src/protocols/exchange/inbox/parse.ts";
import { Area } from "../tools/area.ts";
import { filesBelow } from "./execute/stage.ts";
import { parseNaively } from "./inbox/naive-parser.ts";
import { nearInbox } from "./inbox/near-grammar.ts";
import { WorkspaceModel } from "./workspace-model.ts";

const files = { a: "1\r\n2\r3\n4", b: "\ufeffone\ntwo\n", "folder/inner": "inner\n" };

/** Existing paths, missing paths, and paths that no file may have. */
const anyPath = fc.oneof(
  fc.constantFrom(
    "a",
    "./b",
    "new",
    "folder",
    "folder/",
    "folder/inner",
    "folder/../a",
    "folder//inner",
    "a/x",
    "x/y/z",
  ),
  fc.constantFrom("../x", "..", ".", "/", "/tmp/x", "out", "folder/../../outside/trap", "out/x", "\0", "ü é", "…"),
  fc
    .array(fc.constantFrom("a", "folder", "new", "out", "..", ".", ""), { maxLength: 4 })
    .map((names) => names.join("/")),
);

const anyBlock = fc
  .tuple(anyPath, fc.integer({ min: -1, max: 5 }), fc.nat(3), fc.nat(3))
  .map(([path, start, more, kind]) => {
    const body = ["", "x", "x\ny", "\n[DONE]\n"][more];
    return [
      `[CREATE_FILE path="${path}"]\n${body}\n[/CREATE_FILE]`,
      `[EDIT_FILE path="${path}" start_line="${start}" end_line="${start + more}"]\n${body}\n[/EDIT_FILE]`,
      `[DELETE_FILE path="${path}"]`,
      `[READ_FILE path="${path}"]`,
    ][kind];
  });

/** Valid blocks, mixed with text that may make a block invalid. */
const anyInbox = fc
  .array(fc.oneof({ weight: 6, arbitrary: anyBlock }, { weight: 1, arbitrary: nearInbox }), { maxLength: 8 })
  .map((texts) => texts.join("\n"));

/** As the driver does: a command is traced before it begins. */
async function executeAll(executor: Executor, commands: readonly Command[], area: Area): Promise<CommandResult[]> {
  const results: CommandResult[] = [];
  for (const command of commands) {
    await executor.trace(command, area.context);
    results.push(await executor.run(command, area.context));
  }
  return results;
}

/** Type and success of every command of a strict reading, in order; applies them to the model. */
function expectFrom(text: string, model: WorkspaceModel): unknown[] {
  return parseNaively(text).map((command) => {
    switch (command.type) {
      case "MESSAGE":
        return { type: command.type, success: true, summary: command.text };
      case "DONE":
        return { type: command.type, success: true, summary: command.message };
      case "RUN_COMMAND":
        return {
          type: command.type,
          success: false,
          summary: `Failed to run '${command.command}': commands are disabled`,
        };
      case "PARSE_ERROR":
        return { type: command.type, success: false, summary: command.message };
      default:
        return { type: command.type, success: model.apply(command), summary: expect.any(String) };
    }
  });
}

const nobody: Pick<Commands, "run"> = {
  run: () => expect.unreachable("a command was run"),
};

test("any text is executed exactly as the strict reading requires, and harms nothing", async () => {
  const executor = createExecutor({ commands: nobody, mayRun: false });
  let executed = 0;
  await fc.assert(
    fc.asyncProperty(anyInbox, async (text) => {
      using area = new Area();
      for (const [path, content] of Object.entries(files)) {
        area.write(path, content);
      }
      const trap = join(area.outside, "trap");
      writeFileSync(trap, "trap\n");
      symlinkSync(trap, join(area.root, "out"));

      const results = await executeAll(executor, parseInbox(text), area);
      // A line that only resembles a command may be reported, as the last result.
      const told = results.filter(({ type, summary }) => type !== "PARSE_ERROR" || !summary.startsWith("unrecognised"));
      const model = new WorkspaceModel(files, ["out"]);
      expect(told.map(({ type, success, summary }) => ({ type, success, summary }))).toEqual(expectFrom(text, model));
      expect(filesBelow(area.root)).toEqual(Object.fromEntries(model.files));
      expect(filesBelow(area.outside)).toEqual({ trap: "trap\n" });
      expect(readFileSync(join(area.root, "out"), "utf8")).toBe("trap\n");
      executed += told.filter(({ type, success }) => success && type.endsWith("_FILE")).length;
    }),
    { numRuns: 300 },
  );
  // Proves that the texts are close enough to the grammar to do something.
  expect(executed).toBeGreaterThan(50);
});
