// Many readers of one stream, opened a few at a time. Each counts what it gets, and a sample of them reads the stamps.

import { fromBinary } from "@bufbuild/protobuf";
import { TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { readEventStream } from "../clients/event-stream.ts";
import { H2Client } from "../clients/h2-client.ts";
import { countResults } from "../clients/tail-response.ts";
import { readStamps } from "../harness/answer.ts";

export interface Shape {
  readonly name: string;
  readonly protocol: "grpc" | "sse";
  readonly readers: number;
  /** With SSE each reader has its own connection. */
  readonly connections: number;
}

/** The address of the stream. */
export interface Place {
  readonly url: string;
  /** host:port of HTTP/2. */
  readonly target: string;
  readonly path: string;
  /** The gRPC request, encoded. */
  readonly request: Uint8Array;
}

/** One reader: how many results or events it got. Which of the two depends on its protocol. */
export interface Reader {
  deliveries: number;
  messages: number;
  stamps: number;
  readonly ageMs: number[];
}

export interface OpenReaders extends Disposable {
  readonly readers: readonly Reader[];
  /** Resolves when every stream has ended properly. */
  readonly ended: Promise<unknown>;
}

/**
 * Reading the stamps of all deliveries would make the client the bottleneck. The sample is spread over all readers, because the
 * service may serve the first readers first.
 */
export const sampledEvery = 50;
/** As many connections as fit into the queue of a listening socket. */
const openedAtOnce = 50;

/** Resolves when every reader has received the sign that its stream is open. */
export async function openReaders(shape: Shape, place: Place): Promise<OpenReaders> {
  using closers = new DisposableStack();
  const readers = Array.from({ length: shape.readers }, (): Reader => {
    return { deliveries: 0, messages: 0, stamps: 0, ageMs: [] };
  });
  const read = shape.protocol === "sse" ? readSse(place) : readGrpc(place, shape, closers);
  const reading: Promise<void>[] = [];
  for (let first = 0; first < readers.length; first += openedAtOnce) {
    const opening = readers.slice(first, first + openedAtOnce).map((reader, offset) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stream = read(reader, first + offset, resolve);
      reading.push(stream);
      // The first to settle counts: a stream that fails would never open.
      return Promise.race([promise, stream]);
    });
    await Promise.all(opening);
  }
  const kept = closers.move();
  const ended = Promise.all(reading);
  ended.catch(() => {});
  return { readers, ended, [Symbol.dispose]: () => kept.dispose() };
}

type Read = (reader: Reader, index: number, opened: () => void) => Promise<void>;

function readGrpc({ target, path, request }: Place, { connections }: Shape, closers: DisposableStack): Read {
  const clients = Array.from({ length: connections }, () => closers.use(new H2Client(target)));
  return (reader, index, opened) =>
    (clients[index % connections] as H2Client).stream(path, request, (message) => {
      opened();
      reader.messages++;
      reader.deliveries += countResults(message);
      if (index % sampledEvery === 0) {
        noteStamps(reader, textOf(message));
      }
    });
}

function readSse({ url, path }: Place): Read {
  return (reader, index, opened) =>
    readEventStream({
      url,
      path,
      onBlock: (block) => {
        opened();
        // Comments open a stream and keep it alive.
        if (!block.includes("event: ")) {
          return;
        }
        reader.messages++;
        reader.deliveries++;
        if (index % sampledEvery === 0) {
          noteStamps(reader, block);
        }
      },
    });
}

function noteStamps(reader: Reader, text: string): void {
  for (const { index, ageMs } of readStamps(text)) {
    if (index !== reader.stamps) {
      continue;
    }
    reader.stamps++;
    reader.ageMs.push(ageMs);
  }
}

function textOf(message: Uint8Array): string {
  return fromBinary(TailRunResponseSchema, message)
    .results.map(({ payload }) => (payload.case === "messageDelta" ? payload.value.chunk?.content : ""))
    .join("");
}
