// `runnel run` and `runnel tail`: send a message and follow the run; follow a run that is known.

import { once } from "node:events";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { readSequence, readUrl } from "./arguments.ts";
import { defaultUrl, type RunClient, type SessionClient, withService } from "./connect.ts";
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

interface TailFlags extends ClientFlags {
  readonly after?: bigint;
}

export function addRun(program: Command): void {
  clientCommand(program, "run <message>")
    .description("send a message in a new session, or another one in a session, and follow the run")
    .option("--model <name>", "model; unset means the service's default", "")
    .option("--work-dir <path>", "directory that the tools may touch", ".")
    .option("--tools <names>", "built-in tools, joined by commas", "list_dir,read_file")
    .option("--session <id>", "a session that exists")
    .action((message: string, flags: RunFlags) =>
      withService(flags.url, async ({ sessions, runs }) => {
        const sessionId = flags.session ?? (await createSession(sessions, flags));
        const { runId } = await sessions.sendMessage({ sessionId, message });
        console.error(`session ${sessionId}  run ${runId}`);
        await follow(runs, { runId, after: 0n, json: flags.json });
      }),
    );
}

export function addTail(program: Command): void {
  clientCommand(program, "tail <run>")
    .description("follow a run's log from any point to its end")
    .option("--after <sequence>", "sequence of the last result that you have; unset means from the start", readSequence)
    .action((runId: string, { url, json, after = 0n }: TailFlags) =>
      withService(url, async ({ runs }) => {
        // Patience is for a service that was there: one that is not is told at once.
        await runs.getRun({ runId });
        await follow(runs, { runId, after, json });
      }),
    );
}

function clientCommand(program: Command, usage: string): Command {
  return program
    .command(usage)
    .option("--url <url>", "where the service is", readUrl, defaultUrl(process.env))
    .option("--json", "one JSON object a line on standard output");
}

async function createSession(sessions: SessionClient, flags: RunFlags): Promise<string> {
  const { sessionId } = await sessions.createSession({
    workDir: resolve(flags.workDir),
    agent: {
      name: "cli",
      model: flags.model,
      tools: { builtin: flags.tools.split(",").filter((name) => name !== "") },
    },
  });
  return sessionId;
}

interface Following {
  readonly runId: string;
  readonly after: bigint;
  readonly json: true | undefined;
}

async function follow(runs: RunClient, { runId, after, json }: Following): Promise<void> {
  const onReconnect = (at: bigint, why: string): void => console.error(`(${why}: going on after ${at})`);
  process.stdout.on("error", leaveQuietly);
  let last: RunResult | undefined;
  for await (const result of followRun({ runs, runId, after, patienceMs, onReconnect })) {
    await print(json === true ? `${showJson(result)}\n` : showResult(result));
    last = result;
  }
  if (last?.payload.case === "runFailed") {
    process.exitCode = exitRunFailed;
  }
}

/** Waits while the reader of standard output is slow. */
async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) {
    await once(process.stdout, "drain");
  }
}

/** Whoever closed the pipe, such as `| head -1`, has what it wanted; the run goes on without us. */
function leaveQuietly(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") {
    process.exit(0);
  }
  throw error;
}
