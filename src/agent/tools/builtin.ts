// The tools that come with the service. To add one, write its file and add a line here.

import { Fault } from "../../platform/base/fault.ts";
import { suggest } from "../../platform/base/nearest.ts";
import { editFile } from "./edit-file.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { listDir } from "./list-dir.ts";
import { memoryToolNames } from "./memory.ts";
import { readFile } from "./read-file.ts";
import { setState } from "./set-state.ts";
import { todo } from "./todo.ts";
import type { Tool } from "./tool.ts";
import { writeFile } from "./write-file.ts";

/** The builtin tools without settings. */
export const builtinTools: readonly Tool[] = [readFile, writeFile, editFile, glob, grep, listDir, setState, todo];

/** The names of all builtin tools, for metrics. */
export const builtinToolNames: readonly string[] = [
  ...builtinTools.map((tool) => tool.name),
  "bash",
  ...memoryToolNames,
];

/** A tool that this service does not offer, with the reason. */
export interface Withheld {
  readonly name: string;
  readonly why: string;
}

/**
 * Returns the tools of these names in the given order, by which providers cache.
 * @throws Fault TOOL_UNKNOWN, TOOL_UNSUPPORTED for a withheld tool, or INVALID_ARGUMENT for a repeated name.
 */
export type SelectBuiltin = (names: readonly string[]) => readonly Tool[];

/** Creates the selection. `opened` are the tools that need settings. */
export function createSelectBuiltin(opened: readonly (Tool | Withheld)[]): SelectBuiltin {
  const tools = new Map([...builtinTools, ...opened].map((tool) => [tool.name, tool]));
  return (names) => {
    const selected = new Map<string, Tool>();
    for (const name of names) {
      const tool = tools.get(name);
      if (tool === undefined) {
        const meant = suggest(name, [...tools.keys()]);
        throw new Fault("TOOL_UNKNOWN", `failed to build registry: unknown builtin tool: ${name}${meant}`);
      }
      if ("why" in tool) {
        throw new Fault("TOOL_UNSUPPORTED", `failed to build registry: create builtin ${name}: ${tool.why}`);
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
  };
}
