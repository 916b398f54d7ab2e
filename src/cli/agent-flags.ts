// The flags that say which agent answers, and the session that is created with them.

import { resolve } from "node:path";
import { create, equals, fromJson, type JsonObject } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { type Agent, AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { readAgentField } from "./agent-fields.ts";
import { CommandError } from "./command-error.ts";
import type { SessionClient } from "./connect.ts";
import { exitCodes } from "./exit-codes.ts";
import { readInput } from "./input.ts";
import { withWorkDir } from "./work-dir.ts";

/** The flags of `run` and `chat`. */
export interface AgentFlags {
  readonly agent: string;
  readonly model: string;
  readonly workDir?: string;
  readonly tools?: readonly string[];
  readonly approve: readonly string[];
  readonly schema?: string;
  /** Other fields of the agent. */
  readonly set?: JsonObject;
}

/** The tools of an agent without a preset. */
const defaultTools = ["list_dir", "read_file"];
/** The contract's limit. */
const schemaBytesMax = 262_144;

/** Adds the flags. */
export function addAgentFlags(command: Command): Command {
  return command
    .option(
      "--agent <preset>",
      "agent of the service's settings (`agents.presets`); the flags below replace its fields",
      "",
    )
    .option("--model <name>", "model; unset means the service's default", "")
    .option(
      "--work-dir <path>",
      "directory of the tools, created after confirmation; unset means a new one for the session",
    )
    .option(
      "--tools <names>",
      `built-in tools, separated by commas; unset means those of --agent, or ${defaultTools}`,
      readNames,
    )
    .option(
      "--approve <names>",
      "tools of these whose calls wait for `runnel approvals approve`, separated by commas",
      readNames,
      [],
    )
    .option("--schema <file>", "JSON Schema that the answer has to match; - for standard input")
    .option("--set <field=value>", "another field of the agent, such as temperature=0.2; repeatable", readAgentField);
}

/** Creates a session with the agent of the flags. Returns its id. */
export async function createSession(sessions: SessionClient, flags: AgentFlags, asJson: boolean): Promise<string> {
  const request = { preset: flags.agent, agent: await readAgent(flags) };
  if (flags.workDir === undefined) {
    return (await sessions.createSession(request)).sessionId;
  }
  const workDir = resolve(flags.workDir);
  return (await withWorkDir(workDir, asJson, () => sessions.createSession({ ...request, workDir }))).sessionId;
}

/**
 * Returns the settings of the flags for the runs of an existing session; undefined without any. Throws a `CommandError` for flags
 * that only a new session takes.
 */
export async function readReplacements(flags: AgentFlags): Promise<Agent | undefined> {
  const wrong = flags.agent !== "" ? "--agent" : flags.workDir !== undefined ? "--work-dir" : undefined;
  if (wrong !== undefined) {
    const fix = `leave ${wrong} out, or leave --session out to begin a new session`;
    throw new CommandError(`${wrong} is for a new session: the one of --session has its own`, {
      ...{ reason: "USAGE", fix, exitCode: exitCodes.invalidUsage },
    });
  }
  const agent = await readAgent(flags, true);
  return equals(AgentSchema, agent, create(AgentSchema)) ? undefined : agent;
}

/** Returns the agent of the flags. `isKnown` means that they replace fields of an agent which the service has. */
export async function readAgent(flags: AgentFlags, isKnown: boolean = flags.agent !== ""): Promise<Agent> {
  const { model, tools, approve, schema, set = {} } = flags;
  const builtin = tools ?? (isKnown || set.tools !== undefined ? [] : defaultTools);
  return fromJson(AgentSchema, {
    ...(isKnown ? {} : { name: "cli" }),
    ...set,
    ...(model !== "" && { model }),
    ...(builtin.length + approve.length > 0 && {
      tools: { ...(set.tools as JsonObject | undefined), builtin: [...builtin], approve: [...approve] },
    }),
    ...(schema !== undefined && { response_format: { schema: (await readInput(schema, schemaBytesMax)).toString() } }),
  });
}

function readNames(text: string): string[] {
  return text.split(",").filter((each) => each !== "");
}
