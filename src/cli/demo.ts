// `runnel demo`: the main job before your eyes. One session, two readers side by side, and in the middle the service is
// killed with -9; a new one takes the run over and both readers resume. Exits 0 only if nothing was lost or doubled.

import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { CommandError } from "./command-error.ts";
import { connectTo } from "./connect.ts";
import { type ReaderNews, readOverGrpc, readOverSse } from "./demo-reader.ts";
import { type DemoServer, startDemoServer } from "./demo-server.ts";
import { findFaults } from "./demo-verdict.ts";
import { exitCodes } from "./exit-codes.ts";
import { listenForStop, type StopRequest, unlessStopped } from "./interrupt.ts";
import { type Output, outputOf } from "./output.ts";
import { print } from "./terminal.ts";

/** Results that both readers have seen before the service is killed. */
const killAfterItems = 40;
const message = "List the files, then read story.txt. words=120 pace=15";

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("see a run survive kill -9: needs no key and no database, leaves nothing behind")
    .option("--keep <directory>", "keep the database there")
    .action(async ({ keep }: { keep?: string }, command: Command) => {
      const output = outputOf(command);
      const home = await mkdtemp(join(tmpdir(), "runnel-demo-"));
      // Postgres of root runs under another account, which has to pass through to its data.
      await chmod(home, 0o711);
      const stop = listenForStop();
      try {
        const directory = keep === undefined ? join(home, "database") : resolve(keep);
        const outcome = await unlessStopped(stop, () => runDemo({ home, directory, stop, output }));
        process.exitCode = await conclude(outcome, output);
      } finally {
        await rm(home, { recursive: true, force: true });
      }
      // Readers that were left alone would go on trying.
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
  readonly results: number;
  readonly events: number;
  /** What was lost, doubled or different. */
  readonly faults: readonly string[];
}

/** Throws the reason of the stop when one was asked for. */
async function runDemo(place: DemoPlace): Promise<DemoOutcome> {
  const { home, stop, output } = place;
  const say = storyteller(output);
  await writeFile(join(home, "story.txt"), "A run was told once and for all.\nWhoever reads it reads the same.\n");
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
    const reading = Promise.all([readOverGrpc(server.url, runId, news), readOverSse(server.url, sessionId, news)]);
    // Whoever fails while the service starts again is heard below.
    reading.catch(() => {});
    await Promise.race([half.promise, reading, stop.asked]);
    stop.signal.throwIfAborted();
    say(`\n── kill -9 ${server.pid}: the service is gone in the middle of a sentence`);
    await server.kill();
    // Without the signal: this service has to join the Postgres that the first one left, so that it can stop it.
    server = await startServer(place, port);
    say(`── a new one is up, process ${server.pid}; it takes the run over when the lease of the old one ends\n`);
    await Promise.race([reading, stop.asked]);
    stop.signal.throwIfAborted();
    const [results, events] = await reading;
    const faults = findFaults(results, events);
    return { sessionId, runId, results: results.length, events: events.length, faults };
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

type Say = (text: string) => void;

/** The story is for people; machines get its end. */
function storyteller({ asJson }: Output): Say {
  return (text) => {
    if (!asJson) {
      void print(`${text}\n`);
    }
  };
}

/** Prints what comes side by side, and tells when both readers are in the middle. */
function report(say: Say, onHalf: () => void): ReaderNews {
  const counts = { gRPC: 0, SSE: 0 };
  const indent = { gRPC: "", SSE: " ".repeat(44) };
  return {
    onItem: (reader, what) => {
      counts[reader]++;
      if (!what.endsWith("Delta") && what !== "text") {
        say(`${indent[reader]}${reader} #${counts[reader]} ${what}`);
      } else if (counts[reader] % 20 === 0) {
        say(`${indent[reader]}${reader} #${counts[reader]} … text`);
      }
      if (Math.min(counts.gRPC, counts.SSE) >= killAfterItems) {
        onHalf();
      }
    },
    onResume: (reader, after) => say(`${indent[reader]}${reader} reconnects after ${after}`),
  };
}

/** Tells how it ended, and with which exit code. */
async function conclude(outcome: DemoOutcome | undefined, output: Output): Promise<number> {
  if (outcome === undefined) {
    output.note("✗ interrupted", { note: "interrupted" });
    return exitCodes.interrupted;
  }
  const { results, events, faults } = outcome;
  await output.answer(outcome, () => {
    const counted = `\n${results} results over gRPC, 1 to ${results} without a gap; ${events} events over SSE.`;
    const kept = "Nothing was lost, nothing came twice, and both readers have the same text.";
    return faults.length === 0 ? `${counted}\n${kept}` : `\n${results} results over gRPC, ${events} events over SSE.`;
  });
  if (faults.length > 0) {
    throw new CommandError(`the readers did not get the same: ${faults.join("; ")}`, { reason: "PROMISE_BROKEN" });
  }
  return exitCodes.done;
}
