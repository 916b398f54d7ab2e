import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { answer, hangAfter, type Script } from "../fakes/provider.ts";
import { openCluster, openProvider, startRun } from "../fault/cluster.ts";
import { expectListed, printCode, readCodesTable } from "../fault/codes-table.ts";
import { outputOf, SessionCopy } from "../fault/void-text.ts";
import { openFolder } from "../fixtures.ts";
import { keyOf } from "../harness/credentials.ts";
import { readEvents } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { asClient, startCurl } from "./curl.ts";
import { type Running, runProgram, startProgram } from "./program.ts";

/** The arguments of a reader: the address of the service, the API key, and the run. */
type Words = readonly [target: string, key: string, runId: string];

interface Language {
  readonly client: string;
  readonly isHere: boolean;
  /** Resolves with a function that starts the program. */
  prepare(): Promise<(words: Words) => Running>;
}

const readers = join(import.meta.dirname, "readers");
const python = inject("python");

const languages: readonly Language[] = [
  {
    client: "grpcio (Python)",
    isHere: python !== "",
    prepare: async () => (words) => startProgram(python, [join(readers, "tail.py"), ...words]),
  },
  {
    client: "grpc-go",
    isHere: inject("hasGo"),
    prepare: async () => {
      const folder = await openFolder();
      const program = join(folder, "tail");
      // With the modules of the Go runner.
      const place = join(import.meta.dirname, "runners/go");
      const words = ["build", "-C", place, "-o", program, join(readers, "tail.go")];
      await runProgram("go", words, { environment: { HOME: homedir() } });
      return (args) => startProgram(program, args);
    },
  },
];

const half: Script = hangAfter("half of an answer");

describe.each(languages.filter(({ isHere }) => isHere))("$client", ({ client, prepare }) => {
  test("reports a lost service with the code that the page lists", async () => {
    const start = await prepare();
    const { provider, environment } = await openProvider();
    provider.respond(half);
    const service = await (await openCluster(environment)).start();
    const { runId } = await startRun(service.client, "go");
    const words: Words = [service.target, keyOf(), runId];
    const reader = start(words);
    await until("results at the reader", () => reader.stdout().includes("result\n"));
    await service.kill();
    const lastLines = [await reader.finished, await start(words).finished].map(({ stdout, stderr }) => {
      expect(stderr).toBe("");
      return printCode(stdout.toString().trimEnd().split("\n").at(-1));
    });
    const [broken = "", away = ""] = lastLines;
    expectListed(await readCodesTable(), client, { broken, away });
  });
});

test("curl receives text that a reader must drop after a takeover", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(half, answer("a whole answer"));
  const cluster = await openCluster(environment);
  const [owner, other] = [await cluster.start(), await cluster.start()];
  const { sessionId } = await startRun(owner.client, "go");
  const curl = startCurl([...asClient(), `${other.url}/v1/sessions/${sessionId}/stream`]);
  await until("the first half", () => curl.stdout().includes("half of an answer"));
  await owner.kill();
  const { stdout } = await curl.finished;
  const events = await Array.fromAsync(readEvents(new Blob([Uint8Array.from(stdout)]).stream()));
  expect(events.map(({ event }) => event)).toEqual(["text", "turn_restarted", "text", "done"]);
  const copy = new SessionCopy();
  for (const event of events) {
    copy.take(event);
  }
  expect(copy.text).toBe("a whole answer");
  expect(outputOf(events)).toBe(copy.text);
});
