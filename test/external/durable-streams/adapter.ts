// A server of Durable Streams for the official suite. A stream is a run: PUT starts it, POST gives its runner the text of the next
// messages, `Stream-Closed: true` ends it, and DELETE deletes it. GET and HEAD pass through unchanged, but for the key.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { onTestFinished } from "vitest";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { completed, delta, type Result } from "../../../clients/typescript/src/worker/runner.ts";
import { credentialsOf } from "../../harness/credentials.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import type { TestService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { runnerOf, startWorker } from "../../harness/worker.ts";
import { bind, start } from "../../runners/hand-worker.ts";

/** Starts the server and returns its URL. */
export async function startAdapter({ url, target }: TestService): Promise<string> {
  const client = new GrpcClient(target);
  const mail = new Map<string, TransformStream<Result>>();
  const mailOf = (runId: string): TransformStream<Result> => {
    const known = mail.get(runId) ?? new TransformStream<Result>();
    mail.set(runId, known);
    return known;
  };
  const runner = runnerOf(
    async function* ({ runId }) {
      yield* mailOf(runId).readable;
    },
    { metadata: { chunk_content: "increment" } },
  );
  startWorker(url, [runner]);
  await until("the runner", async () => (await client.call(RunnerService.method.listRunners, {})).runners.length === 1);
  await bind(client);
  const streams = new Map<string, string>();

  /** Returns where the log ends, as the suite expects it of a write. */
  const headersOf = async (runId: string): Promise<Record<string, string>> => {
    const { headers } = await fetch(`${url}/v1/runs/${runId}/stream`, { method: "HEAD", headers: credentialsOf() });
    return Object.fromEntries([...headers].filter(([name]) => name.startsWith("stream-") || name === "content-type"));
  };

  /** Gives the runner what was posted, and resolves when the log has it. */
  const write = async (runId: string, request: IncomingMessage): Promise<void> => {
    const writer = mailOf(runId).writable.getWriter();
    for (const result of resultsOf(request, await text(request))) {
      const { logSequence: before } = await client.call(RunService.method.getRun, { runId });
      await writer.write(result);
      await until("the result", async () => {
        const { logSequence, run } = await client.call(RunService.method.getRun, { runId });
        return logSequence > before && (result.type !== "run.completed" || run?.endTime !== undefined);
      });
    }
    writer.releaseLock();
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, search } = new URL(request.url ?? "", "http://adapter");
    const runId = streams.get(pathname);
    switch (request.method) {
      case "PUT": {
        const opened = runId ?? (await start(client, { conversationId: randomUUID() }));
        streams.set(pathname, opened);
        await write(opened, request);
        const headers = { ...(await headersOf(opened)), location: `http://${request.headers.host}${pathname}` };
        response.writeHead(runId === undefined ? 201 : 200, headers).end();
        return;
      }
      case "POST":
        if (runId !== undefined) {
          await write(runId, request);
          response.writeHead(204, await headersOf(runId)).end();
          return;
        }
        response.writeHead(404).end();
        return;
      case "DELETE":
        await client.call(RunService.method.deleteRun, { runId: runId ?? randomUUID() });
        response.writeHead(204).end();
        return;
      default:
        await passOn(`${url}/v1/runs/${runId ?? randomUUID()}/stream${search}`, request, response);
    }
  };

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns what a write says: one message for each element of a JSON array, and the end of the stream. */
function resultsOf({ headers }: IncomingMessage, body: string): Result[] {
  const isJson = headers["content-type"]?.startsWith("application/json") === true && body !== "";
  const values = isJson ? [JSON.parse(body)].flat().map((value) => JSON.stringify(value)) : [body];
  const said = values.filter((value) => value !== "").map(delta);
  return headers["stream-closed"] === "true" ? [...said, completed()] : said;
}

async function passOn(url: string, { method = "GET", headers }: IncomingMessage, response: ServerResponse) {
  const { host: _, connection: __, ...asked } = headers;
  const left = new AbortController();
  response.on("close", () => left.abort());
  const answered = await fetch(url, {
    method,
    headers: { ...(asked as Record<string, string>), ...credentialsOf(), "accept-encoding": "identity" },
    signal: left.signal,
  });
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  await (answered.body === null ? response.end() : pipeline(Readable.fromWeb(answered.body as never), response));
}
