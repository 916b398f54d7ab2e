// `runnel run` and `runnel tail`: send a message and follow the run; follow a run that is known.

import { writeSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { readSequence } from "./arguments.ts";
import { connectTo, defaultUrl } from "./connect.ts";
import { followRun } from "./follow.ts";
import { showJson, showResult } from "./show.ts";

/** How long a follower waits for a service that is away. */
const patienceMs = 60_000;
/** A run that failed; 1 is for commands that could not do their work. */
const exitRunFailed = 3;

interface ClientFlags {
  readonly url: string;
  readonly json?: true;
}

interface RunFlags extends ClientFlags {
  readonly model: string;
  readonly workDir: string;
  readonly tools: string;
  readonly session?: string;
}

export function addRun(program: Command): void {
  clientCommand(program, "run <message>")
    .description("send a message in a new session, or another one in a session, and follow the run")
    .option("--model <name>", "model; unset means the service's default", "")
    .option("--work-dir <path>", "directory that the tools may touch", ".")
    .option("--tools <names>", "built-in tools, joined by commas", "list_dir,read_file")
    .option("--session <id>", "a session that exists")
    .action(async (message: string, flags: RunFlags) => {
      const { sessions } = connectTo(flags.url);
      const sessionId = flags.session ?? (await createSession(flags));
      const { runId } = await sessions.sendMessage({ sessionId, message });
      console.error(`session ${sessionId}  run ${runId}`);
      await follow(flags, runId, 0n);
    });
}

export function addTail(program: Command): void {
  clientCommand(program, "tail <run>")
    .description("follow a run's log from any point to its end")
    .option("--after <sequence>", "sequence of the last result that you have", readSequence, 0n)
    .action((runId: string, flags: ClientFlags & { after: bigint }) => follow(flags, runId, flags.after));
}

function clientCommand(program: Command, usage: string): Command {
  return program
    .command(usage)
    .option("--url <url>", "where the service is", defaultUrl(process.env))
    .option("--json", "one JSON object a line on standard output");
}

async function createSession(flags: RunFlags): Promise<string> {
  const { sessionId } = await connectTo(flags.url).sessions.createSession({
    workDir: resolve(flags.workDir),
    agent: {
      name: "cli",
      model: flags.model,
      tools: { builtin: flags.tools.split(",").filter((name) => name !== "") },
    },
  });
  return sessionId;
}

async function follow(flags: ClientFlags, runId: string, after: bigint): Promise<void> {
  const { runs } = connectTo(flags.url);
  const onReconnect = (at: bigint, why: string): void => console.error(`(${why}: going on after ${at})`);
  let last: RunResult | undefined;
  for await (const result of followRun({ runs, runId, after, patienceMs, onReconnect })) {
    writeSync(1, flags.json === true ? `${showJson(result)}\n` : showResult(result));
    last = result;
  }
  if (last?.payload.case === "runFailed") {
    process.exitCode = exitRunFailed;
  }
}
