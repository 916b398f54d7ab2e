// Opens the tools of the service and the sandbox that confines them.

import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { createBash } from "../agent/tools/bash/bash.ts";
import { type Commands, createCommands, refuseCommands } from "../agent/tools/bash/commands.ts";
import { type Bubblewrap, findBubblewrap } from "../agent/tools/bash/find-bubblewrap.ts";
import { createSelectBuiltin, type Withheld } from "../agent/tools/builtin.ts";
import { McpPrograms } from "../agent/tools/mcp/programs.ts";
import { createMcpServers } from "../agent/tools/mcp/servers.ts";
import { createMemoryTools } from "../agent/tools/memory.ts";
import { createSelectTools } from "../agent/tools/select-tools.ts";
import type { Tool } from "../agent/tools/tool.ts";
import type { Toolbox } from "../agent/tools/toolbox.ts";
import type { WorkDirs } from "../engine/sessions/work-dirs.ts";
import { Fault } from "../platform/base/fault.ts";
import { random } from "../platform/base/random.ts";
import type { AppContext } from "../platform/context.ts";

const mebibyte = 1_048_576;

/** Opens bash and returns the toolbox. */
export async function openTools(context: AppContext, workDirs: WorkDirs): Promise<Toolbox> {
  const { tool, commands, words } = await openBash(context, workDirs);
  const { config, clock, closers, connections, keyRing, egress, signRequest } = context;
  const programs = new McpPrograms({
    commands,
    clock,
    idleMs: config.mcpIdleSecs * 1_000,
    programsMax: config.mcpProgramsMax,
  });
  closers.defer(() => programs.close());
  const mcp = createMcpServers({ egress, clock, programs, settings: config.mcpServers });
  const select = createSelectTools({
    mcp,
    selectBuiltin: createSelectBuiltin([tool, ...createMemoryTools({ db: connections.db })]),
    egress,
    clock,
    random,
    sign: signRequest,
    // Without configured credentials, calls to clients go unsigned. With them, only a client with a callback secret gets calls.
    canSign: (client) => keyRing.isOpen || keyRing.findCallbackSecret(client) !== undefined,
    callbackBaseUrl: config.callbackBaseUrl,
    callbackTimeoutMs: config.callbackTimeoutSec * 1_000,
  });
  return { select, mcp, commands, bash: words, skillsDirectory: await openSkills(config.skillsDirectory) };
}

/** Checks the operator's directory of skills. Throws Fault CONFIG_INVALID when it is no directory that the service can read. */
async function openSkills(named: string): Promise<string> {
  if (named === "") {
    return "";
  }
  const directory = resolve(named);
  try {
    await readdir(directory);
    return directory;
  } catch (cause) {
    throw new Fault("CONFIG_INVALID", `agents.skills_directory: cannot read ${directory}: name a readable directory`, {
      cause,
    });
  }
}

interface OpenedBash {
  readonly tool: Tool | Withheld;
  readonly commands: Commands;
  /** How commands run, as text for people. */
  readonly words: string;
}

/** Withholds bash when the jail is missing, unless the settings turn the jail off. */
async function openBash({ config, clock, events }: AppContext, workDirs: WorkDirs): Promise<OpenedBash> {
  const open = (jail: Bubblewrap | undefined, words: string): OpenedBash => {
    const commands = createCommands({
      jail,
      clock,
      denyList: config.toolsDenyList,
      growthBytesMax: config.toolsDiskMb * mebibyte,
      onKilled: (limit) => events.commandKilled({ limit }),
    });
    return { tool: createBash(commands), commands, words };
  };
  if (config.toolsJail === "off") {
    events.jailOff({});
    return open(undefined, "without a jail, with all that this service may do");
  }
  const jail = await findBubblewrap({ clock, hidden: workDirs.hidden, path: process.env.PATH ?? "" });
  if ("problem" in jail) {
    events.jailMissing(jail);
    const why = `there is no jail to run commands in (${jail.problem}): ${jail.fix}`;
    return {
      tool: { name: "bash", why },
      commands: refuseCommands(why),
      words: `refused: ${jail.problem}; ${jail.fix}`,
    };
  }
  return open(jail, "each command in a jail");
}
