// A workspace and an executor over it. Checks that no result names a path of the host.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Commands, refuseCommands } from "../../../src/agent/tools/bash/commands.ts";
import type { Command, CommandResult, Trace } from "../../../src/protocols/exchange/command.ts";
import {
  createExecutor,
  type ExecuteContext,
  type Executor,
} from "../../../src/protocols/exchange/execute/executor.ts";
import { Area } from "../../tools/area.ts";

export interface Stage {
  readonly area: Area;
  readonly executor: Executor;
  readonly run: (command: Command, more?: Partial<ExecuteContext>) => Promise<CommandResult>;
  readonly again: (command: Command, trace: Trace) => Promise<CommandResult>;
  readonly trace: (command: Command) => Promise<Trace>;
  /** Returns undefined when the file does not exist. */
  readonly read: (path: string) => string | undefined;
}

export function setStage(
  commands: Pick<Commands, "run"> = refuseCommands("no jail in /opt/here"),
  mayRun = true,
): Stage {
  const area = new Area();
  onTestFinished(() => {
    const left = area.countDescriptors();
    area[Symbol.dispose]();
    expect(left).toBe(0);
  });
  const executor = createExecutor({ commands, mayRun });
  const look = (result: CommandResult): CommandResult => {
    const { type, summary, output } = result;
    // The output of a command is exempt: in the jail the workspace has its path on the host.
    expect(type === "RUN_COMMAND" ? summary : summary + output).not.toContain(area.base);
    return result;
  };
  return {
    area,
    executor,
    run: async (command, more) => look(await executor.run(command, { ...area.context, ...more })),
    again: async (command, trace) => look(await executor.run(command, area.context, trace)),
    trace: (command) => executor.trace(command, area.context),
    read: (path) => {
      const absolute = join(area.root, path);
      return existsSync(absolute) ? readFileSync(absolute, "utf8") : undefined;
    },
  };
}

/** Returns the regular files below a directory with their contents. */
export function filesBelow(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((path) => [path.slice(directory.length + 1), readFileSync(path, "utf8")]));
}
