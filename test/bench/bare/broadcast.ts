// Streams with the same content: each delta is made once, in the bytes that the service sends for it, and written to all
// streams.

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { envelope } from "../clients/envelopes.ts";
import { writeStamp } from "../harness/answer.ts";

interface Sink {
  write(bytes: Uint8Array): unknown;
  end(): unknown;
}

interface Speech {
  readonly deltas: number;
  readonly gapMs: number;
}

export class Broadcast {
  readonly #grpc = new Map<string, Sink[]>();
  readonly #events = new Map<string, Sink[]>();

  addGrpcStream(name: string, sink: Sink): void {
    add(this.#grpc, name, sink);
  }

  addEventStream(name: string, sink: Sink): void {
    add(this.#events, name, sink);
  }

  /** Sends this many deltas to all streams of this name, then ends and forgets them. */
  speak(name: string, { deltas, gapMs }: Speech): Promise<void> {
    const [grpc = [], events = []] = [this.#grpc.get(name), this.#events.get(name)];
    const { promise, resolve } = Promise.withResolvers<void>();
    let index = 0;
    const timer = setInterval(() => {
      if (index < deltas) {
        sayDelta(index++, grpc, events);
        return;
      }
      clearInterval(timer);
      for (const sink of [...grpc, ...events]) {
        sink.end();
      }
      this.#grpc.delete(name);
      this.#events.delete(name);
      resolve();
    }, gapMs);
    return promise;
  }
}

function add(sinks: Map<string, Sink[]>, name: string, sink: Sink): void {
  sinks.set(name, [...(sinks.get(name) ?? []), sink]);
}

function sayDelta(index: number, grpc: readonly Sink[], events: readonly Sink[]): void {
  const stamp = writeStamp(index);
  if (grpc.length > 0) {
    sayTo(grpc, envelope(deltaMessage(index, stamp)));
  }
  if (events.length > 0) {
    const id = `${runId}.${index + 1}`;
    sayTo(events, Buffer.from(`id: ${id}\nevent: text\ndata: ${JSON.stringify({ content: stamp })}\n\n`));
  }
}

function sayTo(sinks: readonly Sink[], bytes: Buffer): void {
  for (const sink of sinks) {
    sink.write(bytes);
  }
}

/** As long as a real run id. */
const runId = "00000000-0000-7000-8000-000000000000";

function deltaMessage(index: number, content: string): Uint8Array {
  const chunk = { role: "assistant", content, msgSequence: 1 };
  const result = {
    runId,
    sequence: BigInt(index + 1),
    createTime: timestampFromMs(Date.now()),
    payload: { case: "messageDelta" as const, value: { chunk } },
  };
  return toBinary(TailRunResponseSchema, create(TailRunResponseSchema, { results: [result] }));
}
