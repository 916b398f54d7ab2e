// The script of the page of the browser tests: it follows runs as a front end would, and keeps what it received for the test.
// Its types are stripped to serve it as JavaScript.

import { toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";

export interface PageEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

export interface PageReading {
  /** The events of an EventSource. */
  readonly events: readonly PageEvent[];
  /** The results of an RPC: the bytes of each RunResult in base64. */
  readonly results: readonly string[];
  /** The number of times its connection was opened. */
  readonly opened: number;
  readonly isOver: boolean;
  /** The error that ended it; empty otherwise. */
  readonly failure: string;
}

export interface RpcReader {
  readonly protocol: "connect" | "grpc-web";
  readonly useBinaryFormat: boolean;
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer <token>`. */
  readonly token: string;
  readonly runId: string;
}

export interface PageReader {
  /** Receives events of these types, and closes after one of the type `last`. */
  startEventSource(name: string, url: string, types: readonly string[], last: string): void;
  startRpc(name: string, reader: RpcReader): void;
  read(name: string): PageReading;
}

declare global {
  var pageReader: PageReader;
}

type Kept = { -readonly [Key in keyof PageReading]: PageReading[Key] } & { events: PageEvent[]; results: string[] };

const kept = new Map<string, Kept>();

function keep(name: string): Kept {
  const reading: Kept = { events: [], results: [], opened: 0, isOver: false, failure: "" };
  kept.set(name, reading);
  return reading;
}

function startEventSource(name: string, url: string, types: readonly string[], last: string): void {
  const reading = keep(name);
  const source = new EventSource(url);
  source.addEventListener("open", () => {
    reading.opened += 1;
  });
  source.addEventListener("error", () => {
    if (source.readyState === source.CLOSED && !reading.isOver) {
      reading.failure = "refused";
      reading.isOver = true;
    }
  });
  for (const type of types) {
    source.addEventListener(type, (event) => {
      // Other events named `error` come from the browser itself, about the connection.
      if (!(event instanceof MessageEvent)) {
        return;
      }
      reading.events.push({ id: event.lastEventId, type, data: event.data });
      if (type === last) {
        reading.isOver = true;
        source.close();
      }
    });
  }
}

function startRpc(name: string, { protocol, useBinaryFormat, baseUrl, token, runId }: RpcReader): void {
  const reading = keep(name);
  const createTransport = protocol === "connect" ? createConnectTransport : createGrpcWebTransport;
  const client = createClient(RunService, createTransport({ baseUrl, useBinaryFormat }));
  const follow = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${token}` };
    for await (const { results } of client.tailRun({ runId }, { headers, onHeader: () => (reading.opened += 1) })) {
      reading.results.push(...results.map((result) => base64Encode(toBinary(RunResultSchema, result))));
    }
  };
  follow()
    .catch((error: unknown) => {
      reading.failure = String(error);
    })
    .finally(() => {
      reading.isOver = true;
    });
}

function read(name: string): PageReading {
  const reading = kept.get(name);
  if (reading === undefined) {
    throw new Error(`no reader ${name}`);
  }
  return reading;
}

globalThis.pageReader = { startEventSource, startRpc, read };
