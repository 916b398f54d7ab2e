// What the scenes of the demo share: a service that is killed with -9 in the middle of a run, and another one that takes the run over.

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { unlessAborted } from "../platform/base/on-abort.ts";
import { type DemoServer, startDemoServer } from "./demo-server.ts";
import { exitCodes } from "./exit-codes.ts";
import { listenForStop, type StopRequest } from "./interrupt.ts";
import { type Output, outputOf, type Style } from "./output.ts";
import { print } from "./terminal.ts";

/** Where a scene plays. */
export interface DemoPlace {
  readonly home: string;
  readonly directory: string;
  readonly stop: StopRequest;
  readonly output: Output;
  /** Prints the story for people; for programs the demo prints its outcome alone. */
  readonly say: Say;
}

/** Prints a line. */
export type Say = (text: string, style?: Style) => void;

/** A scene, and how its outcome is printed. */
export interface Scene<T> {
  /** Keeps the database in this directory; undefined removes it. */
  readonly keep: string | undefined;
  /** Throws the reason of the stop when a stop was requested. */
  readonly play: (place: DemoPlace) => Promise<T>;
  readonly conclude: (outcome: T, output: Output) => Promise<void>;
}

/** Plays a scene in a home of its own, which it removes afterwards, and ends the process. */
export async function playScene<T>(command: Command, { keep, play, conclude }: Scene<T>): Promise<void> {
  const output = outputOf(command);
  const home = await mkdtemp(join(tmpdir(), "runnel-demo-"));
  // When root runs the demo, Postgres runs under another account, which has to reach its data.
  await chmod(home, 0o711);
  const stop = listenForStop();
  try {
    const directory = keep === undefined ? join(home, "database") : resolve(keep);
    const place = { home, directory, stop, output, say: storyteller(output) };
    const outcome = await unlessAborted(stop.signal, () => play(place));
    if (outcome === undefined) {
      output.note("✗ interrupted", { note: "interrupted" });
      process.exitCode = exitCodes.interrupted;
    } else {
      await conclude(outcome, output);
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
  // Readers that are still open would go on trying.
  process.exit();
}

/** What a scene does at the first service. */
export interface Reading<T> {
  /** Resolves when all readers are in the middle of the text. */
  readonly half: Promise<unknown>;
  /** Resolves when all readers have the end. */
  readonly whole: Promise<T>;
}

/** Begins at a service, kills it when the readers are half way, starts another one, and returns what the readers have. */
export async function readOverKill<T>(place: DemoPlace, begin: (url: string) => Promise<Reading<T>>): Promise<T> {
  const { say, stop } = place;
  const port = await pickPort();
  say("starting Postgres and the service (nothing is installed, no key is needed) …");
  let server = await startServer(place, port, stop.signal);
  try {
    say(`ready on ${server.url}, process ${server.pid}`);
    const { half, whole } = await begin(server.url);
    // The race below handles a failure. This keeps one during the restart from being reported as unhandled.
    whole.catch(() => {});
    await Promise.race([half, whole, stop.asked]);
    stop.signal.throwIfAborted();
    say(`\n── kill -9 ${server.pid}: the service dies in the middle of a sentence`, "red");
    await server.kill();
    // Without the signal: this service has to join the Postgres that the first one left, so that it can stop it.
    server = await startServer(place, port);
    say(`── a new service, process ${server.pid}, takes the run over when the old lease expires\n`, "yellow");
    await Promise.race([whole, stop.asked]);
    stop.signal.throwIfAborted();
    return await whole;
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

function storyteller({ asJson, paint }: Output): Say {
  return (text, style) => {
    if (!asJson) {
      void print(`${style === undefined ? text : paint(style, text)}\n`);
    }
  };
}
