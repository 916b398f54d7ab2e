// `runnel demo`: the main job before your eyes. One session, two readers side by side, and in the middle the service is
// killed with -9; a new one takes the run over and both readers resume. Exits 0 only if nothing was lost or doubled.

import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { connectTo } from "./connect.ts";
import { type ReaderNews, readOverGrpc, readOverSse, type SseEvent } from "./demo-reader.ts";
import { startDemoServer } from "./demo-server.ts";

/** Results that both readers have seen before the service is killed. */
const killAfterItems = 40;
const message = "List the files, then read story.txt. words=120 pace=15";

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("see a run survive kill -9: needs no key and no database, leaves nothing behind")
    .option("--keep <directory>", "keep the database there")
    .action(async ({ keep }: { keep?: string }) => {
      const home = await mkdtemp(join(tmpdir(), "runnel-demo-"));
      // Postgres of root runs under another account, which has to pass through to its data.
      await chmod(home, 0o711);
      const interrupted = untilInterrupted();
      try {
        const findings = await runDemo({ home, directory: keep ?? join(home, "database"), interrupted });
        process.exitCode = findings.length === 0 ? 0 : 1;
        for (const finding of findings) {
          console.error(`✗ ${finding}`);
        }
      } finally {
        await rm(home, { recursive: true, force: true });
      }
      // Readers that were left alone would go on trying.
      process.exit();
    });
}

/** Resolves at the first signal, so that the demo can clean up; a second one ends it at once. */
function untilInterrupted(): Promise<"interrupted"> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.once(signal, () => resolve("interrupted"));
    }
  });
}

interface DemoPlace {
  readonly home: string;
  readonly directory: string;
  readonly interrupted: Promise<"interrupted">;
}

/** Returns what was wrong. */
async function runDemo({ home, directory, interrupted }: DemoPlace): Promise<string[]> {
  const workDir = await prepareWorkDir(home);
  const port = await pickPort();
  say("starting Postgres and the service (nothing is installed, no key is needed) …");
  const onProgress = (line: string): void => say(`  ${line}`);
  let server = await startDemoServer({ directory, port, onProgress });
  try {
    say(`ready on ${server.url}, process ${server.pid}`);
    const { sessions } = connectTo(server.url);
    const agent = { name: "demo", model: "demo", tools: { builtin: ["list_dir", "read_file"] } };
    const { sessionId } = await sessions.createSession({ workDir, agent });
    const { runId } = await sessions.sendMessage({ sessionId, message });
    say(`session ${sessionId}`);
    say(`run     ${runId}\n`);
    const half = Promise.withResolvers<void>();
    const news = report(() => half.resolve());
    const reading = Promise.all([readOverGrpc(server.url, runId, news), readOverSse(server.url, sessionId, news)]);
    // Whoever fails while the service starts again is heard below.
    reading.catch(() => {});
    if ((await Promise.race([half.promise, reading, interrupted])) === "interrupted") {
      return ["interrupted"];
    }
    say(`\n── kill -9 ${server.pid}: the service is gone in the middle of a sentence`);
    await server.kill();
    server = await startDemoServer({ directory, port, onProgress });
    say(`── a new one is up, process ${server.pid}; it takes the run over when the lease of the old one ends\n`);
    const got = await Promise.race([reading, interrupted]);
    return got === "interrupted" ? [got] : conclude(...got);
  } finally {
    await server.stop();
  }
}

async function prepareWorkDir(home: string): Promise<string> {
  await writeFile(join(home, "story.txt"), "A run was told once and for all.\nWhoever reads it reads the same.\n");
  return home;
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

/** Prints what comes side by side, and tells when both readers are in the middle. */
function report(onHalf: () => void): ReaderNews {
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

function conclude(results: readonly RunResult[], events: readonly SseEvent[]): string[] {
  const findings: string[] = [];
  results.forEach((result, index) => {
    if (result.sequence !== BigInt(index + 1)) {
      findings.push(`gRPC: place ${index + 1} holds ${result.sequence}`);
    }
  });
  const ids = events.map((event) => event.id).filter((id) => id !== undefined);
  if (new Set(ids).size !== ids.length) {
    findings.push("SSE: an event came twice");
  }
  if (results.at(-1)?.payload.case !== "runCompleted") {
    findings.push("gRPC: the run did not complete");
  }
  if (events.at(-1)?.event !== "done") {
    findings.push("SSE: there was no done");
  }
  if (spoken(results) !== heard(events)) {
    findings.push("the two readers got different text");
  }
  say(`\n${results.length} results over gRPC, 1 to ${results.length} without a gap; ${events.length} events over SSE.`);
  if (findings.length === 0) {
    say("Nothing was lost, nothing came twice, and both readers have the same text.");
  }
  return findings;
}

function spoken(results: readonly RunResult[]): string {
  return results
    .map(({ payload }) => (payload.case === "messageDelta" ? (payload.value.chunk?.content ?? "") : ""))
    .join("");
}

function heard(events: readonly SseEvent[]): string {
  return events.map(({ event, data }) => (event === "text" ? JSON.parse(data).content : "")).join("");
}

function say(text: string): void {
  console.log(text);
}
