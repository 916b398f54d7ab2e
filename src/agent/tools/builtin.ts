// The tools that come with the service. Adding one is a file of its own and a line here.

import { Fault } from "../../platform/base/fault.ts";
import { editFile } from "./edit-file.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { listDir } from "./list-dir.ts";
import { readFile } from "./read-file.ts";
import type { Tool } from "./tool.ts";
import { writeFile } from "./write-file.ts";

/** Those that need no settings. */
export const builtinTools: readonly Tool[] = [readFile, writeFile, editFile, glob, grep, listDir];

/** Of all that there may be, for figures. */
export const builtinToolNames: readonly string[] = [...builtinTools.map((tool) => tool.name), "bash"];

/** A tool that this service does not offer, and why. */
export interface Withheld {
  readonly name: string;
  readonly why: string;
}

/** The tools of these names in the order asked for, which is the order that providers cache by. */
export type SelectBuiltin = (names: readonly string[]) => readonly Tool[];

/** `opened` are those that need settings. */
export function createSelectBuiltin(opened: readonly (Tool | Withheld)[]): SelectBuiltin {
  const tools = new Map([...builtinTools, ...opened].map((tool) => [tool.name, tool]));
  return (names) => {
    const selected = new Map<string, Tool>();
    for (const name of names) {
      const tool = tools.get(name);
      if (tool === undefined) {
        throw new Fault("TOOL_UNKNOWN", `failed to build registry: unknown builtin tool: ${name}`);
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
