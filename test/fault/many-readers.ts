// A program: hundreds of readers of one run, over gRPC and SSE, in their own process. It reports on standard output, one JSON
// object a line, when all have begun and how the readers that read have ended; then it stays until it is killed.
//
// Arguments: one JSON object, a `ReaderLoad`.

import http from "node:http";
import http2 from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createParser } from "eventsource-parser";
import { RunService, TailRunRequestSchema, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { credentialsOf } from "../harness/credentials.ts";

export interface ReaderLoad {
  readonly url: string;
  readonly runId: string;
  /** The number of readers of each kind that read everything. */
  readonly reading: number;
  /** The number of readers of each kind that begin and then stop reading. */
  readonly stuck: number;
}

/** How the readers that read have ended. */
export interface CrowdReport {
  readonly ended: number;
  /** Each entry says what was wrong for one reader. */
  readonly wrong: readonly string[];
  /** Sequence of the last result of every reader, when they agree. */
  readonly last: number;
}

/** The maximum of streams on one HTTP/2 connection. */
const streamsPerConnection = 100;
/** More concurrent connects overflow the accept queue. */
const opensAtOnce = 50;

class Reader {
  last = 0;
  readonly wrong: string[] = [];

  take(sequence: number): void {
    if (sequence !== this.last + 1) {
      this.wrong.push(`after ${this.last} came ${sequence}`);
    }
    this.last = sequence;
  }
}

interface Stream {
  readonly reader: Reader;
  readonly begun: Promise<void>;
  readonly ended: Promise<void>;
}

async function main({ url, runId, reading, stuck }: ReaderLoad): Promise<void> {
  const sessions = openSessions(url, reading);
  const sessionOfStuck = http2.connect(url);
  const kinds: ((index: number) => Stream)[] = [
    (index) => readGrpc(sessionAt(sessions, index), runId, "reads"),
    (_) => readSse(url, runId, "reads"),
  ];
  const streams = await openAll(reading, kinds);
  await openAll(stuck, [(_) => readGrpc(sessionOfStuck, runId, "stops"), (_) => readSse(url, runId, "stops")]);
  say({ begun: streams.length + 2 * stuck });
  await Promise.all(streams.map(({ ended }) => ended));
  say(report(streams) satisfies CrowdReport);
}

function report(streams: readonly Stream[]): CrowdReport {
  const lasts = new Set(streams.map(({ reader }) => reader.last));
  const wrong = streams.flatMap(({ reader }) => reader.wrong.slice(0, 1));
  return {
    ended: streams.length,
    wrong: lasts.size === 1 ? wrong : [...wrong, `readers ended at ${[...lasts].join(", ")}`],
    last: Math.max(...lasts),
  };
}

async function openAll(count: number, kinds: readonly ((index: number) => Stream)[]): Promise<Stream[]> {
  const streams: Stream[] = [];
  for (let index = 0; index < count; index += opensAtOnce) {
    const more = Array.from({ length: Math.min(opensAtOnce, count - index) }, (_, place) =>
      kinds.map((open) => open(index + place)),
    ).flat();
    await Promise.all(more.map(({ begun }) => begun));
    streams.push(...more);
  }
  return streams;
}

function openSessions(url: string, streams: number): http2.ClientHttp2Session[] {
  return Array.from({ length: Math.ceil(streams / streamsPerConnection) }, () => http2.connect(url));
}

function sessionAt(sessions: readonly http2.ClientHttp2Session[], index: number): http2.ClientHttp2Session {
  const session = sessions[Math.floor(index / streamsPerConnection)];
  if (session === undefined) {
    throw new Error(`no connection for stream ${index}`);
  }
  return session;
}

/** Reads to the end, or stops reading once its stream has begun. */
type Manner = "reads" | "stops";

function readGrpc(session: http2.ClientHttp2Session, runId: string, manner: Manner): Stream {
  const reader = new Reader();
  const { service, method } = { service: RunService.typeName, method: RunService.method.tailRun.name };
  const stream = session.request({
    ":method": "POST",
    ":path": `/${service}/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
    ...credentialsOf(),
  });
  stream.end(envelope(toBinary(TailRunRequestSchema, create(TailRunRequestSchema, { runId }))));
  const begun = new Promise<void>((resolve) => stream.once("response", () => resolve()));
  const ended = new Promise<void>((resolve) => stream.once("close", () => resolve()));
  stream.on("error", (error: Error) => reader.wrong.push(error.message));
  stream.on("trailers", (trailers) => {
    if (trailers["grpc-status"] !== "0") {
      reader.wrong.push(`ended with ${trailers["grpc-status"]}: ${trailers["grpc-message"]}`);
    }
  });
  if (manner === "reads") {
    let pending: Buffer = Buffer.alloc(0);
    stream.on("data", (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      pending = takeMessages(pending, reader);
    });
  }
  return { reader, begun, ended };
}

const prefixBytes = 5;

function envelope(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Returns the bytes of the last, incomplete message. */
function takeMessages(bytes: Buffer, reader: Reader): Buffer {
  let at = 0;
  while (bytes.length - at >= prefixBytes) {
    const end = at + prefixBytes + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) {
      break;
    }
    for (const { sequence } of fromBinary(TailRunResponseSchema, bytes.subarray(at + prefixBytes, end)).results) {
      reader.take(Number(sequence));
    }
    at = end;
  }
  return bytes.subarray(at);
}

function readSse(url: string, runId: string, manner: Manner): Stream {
  const reader = new Reader();
  const request = http.get(`${url}/v1/runs/${runId}/results:tail`, { agent: false, headers: credentialsOf() });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  request.on("error", (error) => {
    reader.wrong.push(error.message);
    end();
  });
  const begun = new Promise<void>((resolve) => {
    request.once("response", (response) => {
      resolve();
      response.once("close", end);
      if (manner === "reads") {
        takeEvents(response, reader);
      }
    });
  });
  return { reader, begun, ended };
}

function takeEvents(response: http.IncomingMessage, reader: Reader): void {
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      if (event === "error") {
        reader.wrong.push(data);
      } else if (event !== "end") {
        reader.take(Number(id));
      }
    },
  });
  response.setEncoding("utf8").on("data", (text: string) => parser.feed(text));
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

await main(JSON.parse(process.argv[2] ?? "{}"));
