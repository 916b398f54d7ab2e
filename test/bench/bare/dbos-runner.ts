// A program: what a durable service of the Agent Runner document costs on DBOS, a library for durable workflows on Postgres, used as
// its documentation shows. A run is a workflow with one step, which writes each piece of the provider's text to a stream of the
// workflow. The run's reader reads that stream. There are no sessions without runs, no signatures, no nonces and no limits.
//
// Announces its address on standard error and ends when its standard input ends. DBOS_SDK is the folder of the package, DBOS_URL the
// database, and OPENAI_BASE_URL the provider.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** The used part of the package, which is not a dependency of the project. */
interface Dbos {
  setConfig(config: {
    name: string;
    systemDatabaseUrl: string;
    logLevel: string;
    systemDatabasePoolSize: number;
  }): void;
  launch(): Promise<void>;
  registerWorkflow(
    work: (message: string) => Promise<void>,
    config: { name: string },
  ): (message: string) => Promise<void>;
  startWorkflow(
    work: (message: string) => Promise<void>,
    options: { workflowID: string },
  ): (message: string) => Promise<unknown>;
  runStep(step: () => Promise<void>, options: { name: string }): Promise<void>;
  writeStream(key: string, value: string): Promise<void>;
  closeStream(key: string): Promise<void>;
  readStream(workflowId: string, key: string): AsyncIterable<string>;
}

const { DBOS_SDK = "", DBOS_URL = "", OPENAI_BASE_URL } = process.env;
const { DBOS } = createRequire(import.meta.url)(DBOS_SDK) as { DBOS: Dbos };
const key = "text";
/** As many connections as the other programs of this row have at most. */
const poolSize = 20;
const socketsMax = 512;

DBOS.setConfig({ name: "bench", systemDatabaseUrl: DBOS_URL, logLevel: "error", systemDatabasePoolSize: poolSize });
const work = DBOS.registerWorkflow(
  async (message) => {
    await DBOS.runStep(() => relay(message), { name: "relay" });
    await DBOS.closeStream(key);
  },
  { name: "run" },
);
await DBOS.launch();

async function relay(message: string): Promise<void> {
  const body = JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: message }] });
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  let rest = "";
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    // What one read brings is one piece, as in the other programs.
    const text = lines
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice("data: ".length)).choices[0]?.delta.content ?? "")
      .join("");
    if (text !== "") {
      await DBOS.writeStream(key, text);
    }
  }
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", socketsMax, () => {
  console.error(`dbos on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.on("end", () => process.exit(0)).resume();

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  const [, , , id = "", kind = "create"] = (request.url ?? "").split("/");
  if (kind === "create") {
    answer(response, 201, { session_id: randomUUID() });
  } else if (kind === "messages") {
    await DBOS.startWorkflow(work, { workflowID: id })(JSON.parse(body.toString()).message);
    answer(response, 202, { session_id: id });
  } else {
    await follow(id, response);
  }
}

async function follow(id: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  let sequence = 0;
  const send = (event: string, data: object): void => {
    sequence++;
    response.write(`id: ${id}.${sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  for await (const content of DBOS.readStream(id, key)) {
    send("text", { content });
  }
  send("done", { status: "completed" });
  response.end();
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
