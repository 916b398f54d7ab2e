// `runnel demo`: shows a run that survives kill -9. It has one session and two readers, and kills the service in the middle. A
// new service takes the run over, and both readers resume. Exits 0 only if nothing was lost or doubled.

import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { CommandError } from "./command-error.ts";
import { connectTo } from "./connect.ts";
import { type ReaderName, type ReaderNews, readOverGrpc, readOverSse } from "./demo-reader.ts";
import { type DemoServer, startDemoServer } from "./demo-server.ts";
import { findFaults } from "./demo-verdict.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { listenForStop, type StopRequest, unlessStopped } from "./interrupt.ts";
import { type Output, outputOf, type Style } from "./output.ts";
import { print } from "./terminal.ts";

/** The number of results that both readers have seen when the service is killed. */
const killAfterItems = 40;
const message = "List the files, then read story.txt. words=120 pace=15";

/** Defines `demo`. */
export function defineDemo(command: Command): void {
  command
    .addHelpText("after", example("runnel demo --keep demo-data"))
    .option("--keep <directory>", "keep the database in this directory")
    .action(async ({ keep }: { keep?: string }) => {
      const output = outputOf(command);
      const home = await mkdtemp(join(tmpdir(), "runnel-demo-"));
      // When root runs the demo, Postgres runs under another account, which has to reach its data.
      await chmod(home, 0o711);
      const stop = listenForStop();
      try {
        const directory = keep === undefined ? join(home, "database") : resolve(keep);
        const outcome = await unlessStopped(stop, () => runDemo({ home, directory, stop, output }));
        process.exitCode = await conclude(outcome, output);
      } finally {
        await rm(home, { recursive: true, force: true });
      }
      // Readers that are still open would go on trying.
      process.exit();
    });
}

interface DemoPlace {
  readonly home: string;
  readonly directory: string;
  readonly stop: StopRequest;
  readonly output: Output;
}

interface DemoOutcome {
  readonly sessionId: string;
  readonly runId: string;
  /** How many each reader received. */
  readonly results: number;
  /** What was lost, doubled or different. */
  readonly faults: readonly string[];
}

/** Plays the demo. Throws the reason of the stop when a stop was requested. */
async function runDemo(place: DemoPlace): Promise<DemoOutcome> {
  const { home, stop, output } = place;
  const say = storyteller(output);
  await writeFile(join(home, "story.txt"), "A run is written once.\nEvery reader gets the same results.\n");
  const port = await pickPort();
  say("starting Postgres and the service (nothing is installed, no key is needed) …");
  let server = await startServer(place, port, stop.signal);
  try {
    say(`ready on ${server.url}, process ${server.pid}`);
    const { sessions } = connectTo(server.url);
    const agent = { name: "demo", model: "demo", tools: { builtin: ["list_dir", "read_file"] } };
    const { sessionId } = await sessions.createSession({ workDir: home, agent });
    const { runId } = await sessions.sendMessage({ sessionId, message });
    say(`session ${sessionId}`);
    say(`run     ${runId}\n`);
    const half = Promise.withResolvers<void>();
    const news = report(say, () => half.resolve());
    const reading = Promise.all([readOverGrpc(server.url, runId, news), readOverSse(server.url, runId, news)]);
    // The race below handles a failure. This keeps one during the restart from being reported as unhandled.
    reading.catch(() => {});
    await Promise.race([half.promise, reading, stop.asked]);
    stop.signal.throwIfAborted();
    say(`\n── kill -9 ${server.pid}: the service dies in the middle of a sentence`, "red");
    await server.kill();
    // Without the signal: this service has to join the Postgres that the first one left, so that it can stop it.
    server = await startServer(place, port);
    say(`── a new service, process ${server.pid}, takes the run over when the old lease expires\n`, "yellow");
    await Promise.race([reading, stop.asked]);
    stop.signal.throwIfAborted();
    const [overGrpc, overSse] = await reading;
    return { sessionId, runId, results: overGrpc.length, faults: findFaults(overGrpc, overSse) };
  } finally {
    await server.stop();
  }
}

async function startServer(
  { home, directory, output }: DemoPlace,
  port: number,
  signal?: AbortSignal,
): Promise<DemoServer> {
  using progress = output.openProgress();
  const onProgress = (line: string): void => progress.say(line);
  return await startDemoServer({ home, directory, port, onProgress, ...(signal && { signal }) });
}

async function pickPort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") {
    throw new Error("no free port on 127.0.0.1");
  }
  return address.port;
}

type Say = (text: string, style?: Style) => void;

/** Prints the story for people; for programs the demo prints its outcome alone. */
function storyteller({ asJson, paint }: Output): Say {
  return (text, style) => {
    if (!asJson) {
      void print(`${style === undefined ? text : paint(style, text)}\n`);
    }
  };
}

const styles: Readonly<Record<ReaderName, Style>> = { gRPC: "cyan", SSE: "magenta" };
const columns: Readonly<Record<ReaderName, string>> = { gRPC: "", SSE: " ".repeat(40) };

/** Prints the results of both readers side by side, and calls `onHalf` when both are in the middle of the text. */
function report(say: Say, onHalf: () => void): ReaderNews {
  const counts = { gRPC: 0, SSE: 0 };
  const sayOf = (reader: ReaderName, text: string): void => say(`${columns[reader]}${reader} ${text}`, styles[reader]);
  return {
    onItem: (reader, { sequence, type }) => {
      counts[reader]++;
      // The text has many results: one of twenty is enough to see that they come.
      if (type !== "message.delta" || sequence % 20 === 0) {
        sayOf(reader, `#${sequence} ${type}`);
      }
      if (Math.min(counts.gRPC, counts.SSE) >= killAfterItems) {
        onHalf();
      }
    },
    onResume: (reader, after) => sayOf(reader, `resumes after #${after}`),
  };
}

/** Prints the outcome and returns the exit code. Throws PROMISE_BROKEN when the readers differ. */
async function conclude(outcome: DemoOutcome | undefined, output: Output): Promise<number> {
  if (outcome === undefined) {
    output.note("✗ interrupted", { note: "interrupted" });
    return exitCodes.interrupted;
  }
  const { results, faults } = outcome;
  await output.answer(outcome, (paint) =>
    faults.length === 0
      ? paint(["green", "bold"], `\n✓ Both readers have results 1 to ${results}: none lost, none twice, the same text.`)
      : `\nResults over gRPC: ${results}.`,
  );
  if (faults.length > 0) {
    throw new CommandError(`the readers did not get the same: ${faults.join("; ")}`, { reason: "PROMISE_BROKEN" });
  }
  return exitCodes.done;
}
