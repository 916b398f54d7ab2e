// A program: the least that a durable service of the Agent Runner document could cost on Node and Postgres. It checks v1
// signatures, streams the provider's text into rows, and sends each row to the run's one reader after its commit. All that
// waits shares the next commit. There is nothing else: no validation, no second reader, no resumption, no tools, no limits.
//
//   POST /v1/sessions    POST /v1/sessions/<id>/messages    GET /v1/sessions/<id>/stream
//
// Announces its address on standard error and ends when its standard input ends. Postgres is in the environment (PGHOST, …),
// the provider in OPENAI_BASE_URL.

import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { Agent, createServer, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import pg from "pg";
import { benchKey } from "../harness/credentials.ts";

/** The number of rows that a batch writer commits at once. */
const rowsMax = 1_000;
/** Above the concurrency of the benches. */
const socketsMax = 512;
const doneData = JSON.stringify({ status: "completed" });

class Run {
  readonly id = randomUUID();
  sequence = 0;
  pending = "";
  isOver = false;
  isQueued = false;
  isEnded = false;
  reader: ServerResponse | undefined;
  /** Committed events that have had no reader yet. */
  unread = "";

  send(events: string): void {
    if (this.reader === undefined) {
      this.unread += events;
    } else {
      this.reader.write(events);
    }
  }
}

/** Commits what waits with one statement after the other. */
class BatchWriter<T> {
  readonly #commit: (items: readonly T[]) => Promise<void>;
  #waiting: T[] = [];
  #isBusy = false;

  constructor(commit: (items: readonly T[]) => Promise<void>) {
    this.#commit = commit;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (!this.#isBusy) {
      this.#isBusy = true;
      void this.#work();
    }
  }

  async #work(): Promise<void> {
    // What this turn of the event loop adds is committed together.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      await this.#commit(this.#waiting.splice(0, rowsMax));
    }
    this.#isBusy = false;
  }
}

const [callsConnection, resultsConnection] = [new pg.Client(), new pg.Client()];
await Promise.all([callsConnection.connect(), resultsConnection.connect()]);
await callsConnection.query(`
  create schema if not exists bare;
  create table if not exists bare.call (nonce text primary key, kind text);
  create table if not exists bare.result (run_id uuid, sequence int, payload bytea, primary key (run_id, sequence))`);

interface Call {
  readonly nonce: string;
  readonly kind: string;
  readonly committed: () => void;
}

const calls = new BatchWriter<Call>(async (batch) => {
  await callsConnection.query({
    name: "calls",
    text: "insert into bare.call select * from unnest($1::text[], $2::text[])",
    values: [batch.map(({ nonce }) => nonce), batch.map(({ kind }) => kind)],
  });
  for (const { committed } of batch) {
    committed();
  }
});

const results = new BatchWriter<Run>(async (batch) => {
  const rows = batch.flatMap((run) => {
    run.isQueued = false;
    const { pending, isOver } = run;
    run.pending = "";
    return [...(pending === "" ? [] : [rowOf(run, pending)]), ...(isOver ? [rowOf(run, undefined)] : [])];
  });
  await resultsConnection.query({
    name: "results",
    text: "insert into bare.result select * from unnest($1::uuid[], $2::int[], $3::bytea[])",
    values: [
      rows.map(({ run }) => run.id),
      rows.map(({ sequence }) => sequence),
      rows.map(({ content }) => Buffer.from(content ?? "")),
    ],
  });
  for (const { run, sequence, content } of rows) {
    const [event, data] = content === undefined ? ["done", doneData] : ["text", JSON.stringify({ content })];
    run.send(`id: ${run.id}.${sequence}\nevent: ${event}\ndata: ${data}\n\n`);
    if (content === undefined) {
      run.isEnded = true;
      run.reader?.end();
    }
  }
});

interface Row {
  readonly run: Run;
  readonly sequence: number;
  /** Undefined at the end. */
  readonly content: string | undefined;
}

function rowOf(run: Run, content: string | undefined): Row {
  return { run, sequence: ++run.sequence, content };
}

const sessions = new Map<string, Run>();
const provider = new URL(`${process.env.OPENAI_BASE_URL}/chat/completions`);
const agent = new Agent({ keepAlive: true, maxSockets: socketsMax });

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", socketsMax, () => {
  console.error(`bare on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.on("end", () => process.exit(0)).resume();

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  const [, , , id = "", kind = "create"] = (request.url ?? "").split("/");
  await commitCall(request, body, kind);
  if (kind === "create") {
    const run = new Run();
    sessions.set(run.id, run);
    answer(response, 201, { session_id: run.id, status: "idle" });
    return;
  }
  const run = sessions.get(id);
  if (run === undefined) {
    answer(response, 404, { error: "session not found" });
  } else if (kind === "messages") {
    startRun(run, JSON.parse(body.toString()).message);
    answer(response, 202, { session_id: id });
  } else {
    follow(run, response);
  }
}

/** Checks the signature and commits the nonce. */
async function commitCall({ headers }: IncomingMessage, body: Buffer, kind: string): Promise<void> {
  const { "x-timestamp": timestamp, "x-nonce": nonce, "x-signature": signature } = headers;
  const mac = createHmac("sha256", benchKey).update(`${timestamp}.${nonce}.`).update(body).digest("hex");
  if (!timingSafeEqual(Buffer.from(`sha256=${mac}`), Buffer.from(String(signature)))) {
    throw new Error("invalid signature");
  }
  await new Promise<void>((committed) => calls.add({ nonce: String(nonce), kind, committed }));
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function follow(run: Run, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.write(run.unread);
  run.unread = "";
  run.reader = response;
  if (run.isEnded) {
    response.end();
  }
}

function startRun(run: Run, message: string): void {
  const asked = openRequest(provider, { method: "POST", agent, headers: { "content-type": "application/json" } });
  asked.once("response", (response: IncomingMessage) => {
    response.setEncoding("utf8");
    let rest = "";
    response.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        readLine(run, line);
      }
      enqueue(run);
    });
    response.once("end", () => {
      run.isOver = true;
      enqueue(run);
    });
  });
  asked.end(JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: message }] }));
}

function readLine(run: Run, line: string): void {
  if (line.startsWith("data: {")) {
    run.pending += JSON.parse(line.slice("data: ".length)).choices[0]?.delta.content ?? "";
  }
}

function enqueue(run: Run): void {
  if (!run.isQueued && (run.pending !== "" || run.isOver)) {
    run.isQueued = true;
    results.add(run);
  }
}
