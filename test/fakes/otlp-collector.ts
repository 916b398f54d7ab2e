// A collector of traces on a socket of its own. It parses OTLP from the wire (opentelemetry-proto 1.x, traces) as far as tests
// look at it, and keeps the raw bodies for tests that search in them.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { onTestFinished } from "vitest";

export type AttributeValue = string | number | boolean | readonly AttributeValue[];
export type AttributeMap = Readonly<Record<string, AttributeValue>>;

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: AttributeMap;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number;
  readonly statusMessage: string;
  /** The attributes of the service's resource. */
  readonly resource: AttributeMap;
  readonly schemaUrl: string;
}

export interface Collector {
  readonly url: string;
  /** In the order of their arrival. */
  readonly spans: readonly CollectedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[];
  /** Sets the status of all following answers; undefined means no answer at all. */
  answerWith(status: number | undefined): void;
  close(): Promise<void>;
}

/** Opens a collector that accepts everything until `answerWith`; it is closed with the test. */
export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  let status: number | undefined = 200;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks);
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    if (status === 200) {
      spans.push(...readExport(body));
    }
    if (status !== undefined) {
      response.writeHead(status, { "content-type": "application/x-protobuf" }).end();
    }
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    if (server.listening) {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    }
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    answerWith: (next) => {
      status = next;
    },
    close,
  };
}

/** The fields of a message on the wire: by field number, each value as raw bytes. */
type Fields = ReadonlyMap<number, readonly Uint8Array[]>;

/** Splits a message into the raw bytes of its fields; a reader of the right type parses them afterwards. */
function readFields(bytes: Uint8Array): Fields {
  const fields = new Map<number, Uint8Array[]>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const values = fields.get(number) ?? [];
    values.push(reader.skip(wireType, number));
    fields.set(number, values);
  }
  return fields;
}

/** Returns every value of a length-delimited field: bytes, a string or a message. */
function all(fields: Fields, number: number): Uint8Array[] {
  return (fields.get(number) ?? []).map((raw) => new BinaryReader(raw).bytes());
}

function one(fields: Fields, number: number): BinaryReader | undefined {
  const raw = fields.get(number)?.at(-1);
  return raw && new BinaryReader(raw);
}

function hex(fields: Fields, number: number): string {
  return Buffer.from(one(fields, number)?.bytes() ?? []).toString("hex");
}

function readExport(body: Uint8Array): CollectedSpan[] {
  return all(readFields(body), 1).flatMap((resourceSpans) => {
    const fields = readFields(resourceSpans);
    const resource = readAttributes(readFields(one(fields, 1)?.bytes() ?? new Uint8Array()), 1);
    return all(fields, 2).flatMap((scopeSpans) => {
      const scope = readFields(scopeSpans);
      const schemaUrl = one(scope, 3)?.string() ?? "";
      return all(scope, 2).map((span) => readSpan(readFields(span), { resource, schemaUrl }));
    });
  });
}

function readSpan(fields: Fields, of: Pick<CollectedSpan, "resource" | "schemaUrl">): CollectedSpan {
  const status = readFields(one(fields, 15)?.bytes() ?? new Uint8Array());
  return {
    traceId: hex(fields, 1),
    spanId: hex(fields, 2),
    parentSpanId: hex(fields, 4),
    name: one(fields, 5)?.string() ?? "",
    kind: one(fields, 6)?.int32() ?? 0,
    startNs: BigInt(one(fields, 7)?.fixed64() ?? 0),
    endNs: BigInt(one(fields, 8)?.fixed64() ?? 0),
    attributes: readAttributes(fields, 9),
    links: all(fields, 13)
      .map(readFields)
      .map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    statusCode: one(status, 3)?.int32() ?? 0,
    statusMessage: one(status, 2)?.string() ?? "",
    ...of,
  };
}

function readAttributes(fields: Fields, number: number): AttributeMap {
  const entries = all(fields, number)
    .map(readFields)
    .map((pair) => [one(pair, 1)?.string() ?? "", readValue(one(pair, 2)?.bytes() ?? new Uint8Array())] as const);
  return Object.fromEntries(entries);
}

function readValue(bytes: Uint8Array): AttributeValue {
  const fields = readFields(bytes);
  const list = one(fields, 5)?.bytes();
  if (list !== undefined) {
    return all(readFields(list), 1).map(readValue);
  }
  const number = one(fields, 3)?.int64();
  const value = one(fields, 1)?.string() ?? one(fields, 2)?.bool() ?? one(fields, 4)?.double();
  return value ?? (number === undefined ? "" : Number(number));
}
