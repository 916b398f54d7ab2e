// The tools that come with the service. Adding one is a file of its own and a line here.

import { Fault } from "../base/fault.ts";
import { editFile } from "./edit-file.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { listDir } from "./list-dir.ts";
import { readFile } from "./read-file.ts";
import type { Tool } from "./tool.ts";
import { writeFile } from "./write-file.ts";

export const builtinTools: readonly Tool[] = [readFile, writeFile, editFile, glob, grep, listDir];

/** The tools of these names in the order asked for, which is the order that providers cache by. */
export function selectTools(names: readonly string[]): readonly Tool[] {
  const selected = new Map<string, Tool>();
  for (const name of names) {
    const tool = builtinTools.find((candidate) => candidate.name === name);
    if (tool === undefined) {
      throw new Fault("TOOL_UNKNOWN", `failed to build registry: unknown builtin tool: ${name}`);
    }
    if (selected.has(name)) {
      throw new Fault(
        "INVALID_ARGUMENT",
        `failed to build registry: register builtin ${name}: tool already registered: ${name}`,
      );
    }
    selected.set(name, tool);
  }
  return [...selected.values()];
}
