// Runs the readers that docs/resuming.md and docs/authentication.md show in a Node process of their own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, onTestFinished } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { openFolder } from "../fixtures.ts";

/** Names one of the pages' functions and its arguments. */
export type ReaderCall =
  | { readonly follow: "run"; readonly target: string; readonly authorization: string; readonly runId: string }
  | { readonly follow: "session"; readonly streamUrl: string; readonly ticketUrl: string };

export interface ShownReader {
  /** Returns the text that it shows now. */
  readonly text: () => string;
  /** Settles like the promise of its function. */
  readonly ended: Promise<unknown>;
}

const main = `
import { Metadata } from "@grpc/grpc-js";
import { EventSource } from "eventsource";
import { followWithTickets } from "./resume/page.js";
import { connect, followRun } from "./resume/run.js";

globalThis.EventSource = EventSource;
// An EventSource that waits for its reconnect does not keep the process alive.
setInterval(() => {}, 60_000);

function start(call, show) {
  if (call.follow === "session") {
    return followWithTickets(call.streamUrl, call.ticketUrl, show);
  }
  const metadata = new Metadata();
  metadata.set("authorization", call.authorization);
  return followRun(connect(call.target), metadata, call.runId, show);
}

const print = (line) => console.log(JSON.stringify(line));
const follow = async (call, reader) => print({ reader, end: await start(call, (text) => print({ reader, text })) });
await Promise.all(JSON.parse(process.argv[2]).map(follow));
process.exit();
`;

/** Calls the functions of the examples in a process of their own. It is killed with the test. */
export async function startShownReaders(calls: readonly ReaderCall[]): Promise<ShownReader[]> {
  const folder = await openFolder();
  await cp(join(repositoryRoot, "examples/resume"), join(folder, "resume"), { recursive: true });
  await writeFile(join(folder, "main.js"), main);
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await symlink(join(repositoryRoot, "node_modules"), join(folder, "node_modules"));
  const child = spawn(process.execPath, [join(folder, "main.js"), JSON.stringify(calls)], {
    // The folder that contains `proto/`.
    cwd: repositoryRoot,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
  });
  return watchReaders(calls.length, child.stdout);
}

function watchReaders(count: number, output: Readable): ShownReader[] {
  const readers = Array.from({ length: count }, () => ({ text: "", ...Promise.withResolvers<unknown>() }));
  const lines = createInterface({ input: output });
  lines.on("line", (line) => {
    const { reader, text, end } = JSON.parse(line);
    const said = readers[reader] ?? expect.fail(line);
    if (text === undefined) {
      said.resolve(end);
    } else {
      said.text = text;
    }
  });
  lines.on("close", () => {
    for (const { reject } of readers) {
      reject(new Error("the program ended before its readers did"));
    }
  });
  return readers.map((each) => {
    // A test that has failed before does not await it.
    each.promise.catch(() => {});
    return { text: () => each.text, ended: each.promise };
  });
}
