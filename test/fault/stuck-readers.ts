// Readers that stop reading once their answer has begun, and continue when the test lets them: over SSE with a full socket,
// over gRPC with a closed window.

import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import http2 from "node:http2";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fromBinary } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import { RunService, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { credentialsOf } from "../harness/credentials.ts";
import { readEvents } from "../harness/sse.ts";
import { envelope, grpcHead } from "../server/attack/grpc-call.ts";

export interface StuckReader {
  /** Reads to the end; returns the sequences in order of arrival. */
  readOn(): Promise<number[]>;
  leave(): void;
}

/** Reads nothing from its socket beyond what Node reads ahead. */
export async function openStuckSse(url: string, runId: string): Promise<StuckReader> {
  const request = get(`${url}/v1/runs/${runId}/results:tail`, { agent: false, headers: credentialsOf() });
  const [response]: IncomingMessage[] = await once(request, "response");
  if (response === undefined) {
    throw new Error("no response");
  }
  const leave = (): void => void response.destroy();
  onTestFinished(leave);
  return { leave, readOn: () => readSequences(response) };
}

/** Each has its own connection, which keeps answering PING. */
export async function openStuckGrpc(url: string, runId: string): Promise<StuckReader> {
  const session = http2.connect(url);
  session.on("error", () => {});
  const leave = (): void => session.destroy();
  onTestFinished(leave);
  const { tailRun } = RunService.method;
  const stream = session.request(grpcHead(tailRun));
  stream.end(envelope(tailRun, { runId }));
  await once(stream, "response");
  return { leave, readOn: async () => sequencesOf(await buffer(stream)) };
}

async function readSequences(response: IncomingMessage): Promise<number[]> {
  const sequences: number[] = [];
  for await (const { id, event } of readEvents(Readable.toWeb(response) as ReadableStream<Uint8Array>)) {
    if (event !== "end") {
      sequences.push(Number(id));
    }
  }
  return sequences;
}

const prefixBytes = 5;

function sequencesOf(body: Buffer): number[] {
  const sequences: number[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + prefixBytes + body.readUInt32BE(at + 1);
    const { results } = fromBinary(TailRunResponseSchema, body.subarray(at + prefixBytes, end));
    sequences.push(...results.map(({ sequence }) => Number(sequence)));
    at = end;
  }
  return sequences;
}
