// Records the HTTP exchanges of one request to a model: what was sent and what was read, up to a number of bytes. Without a recorder
// nothing here runs.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Clock } from "../../../platform/base/clock.ts";

/** Records the exchanges of one request. */
export class Recorder {
  readonly exchanges: RecordedExchange[] = [];
  readonly #clock: Clock;
  readonly #bytesMax: number;

  /** Keeps the first `bytesMax` bytes of a body and of an answer. */
  constructor({ clock, bytesMax }: { readonly clock: Clock; readonly bytesMax: number }) {
    this.#clock = clock;
    this.#bytesMax = bytesMax;
  }

  /** Begins an exchange. */
  open(path: string, sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string }) {
    const exchange = new RecordedExchange({ clock: this.#clock, bytesMax: this.#bytesMax, path, ...sent });
    this.exchanges.push(exchange);
    return exchange;
  }
}

interface Sent {
  readonly clock: Clock;
  readonly bytesMax: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The beginning of a body, and the size of the whole. */
export interface RecordedBody {
  readonly text: string;
  readonly bytes: number;
  readonly isWhole: boolean;
}

/** An exchange so far. */
export class RecordedExchange {
  readonly path: string;
  readonly startMs: number;
  readonly sentHeaders: Readonly<Record<string, string>>;
  readonly sent: RecordedBody;
  /** 0 without an answer. */
  status = 0;
  headers: IncomingHttpHeaders = {};
  durationMs = 0;
  readonly #clock: Clock;
  readonly #begunMs: number;
  readonly #bytesMax: number;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor({ clock, bytesMax, path, headers, body }: Sent) {
    this.#clock = clock;
    this.#bytesMax = bytesMax;
    this.#begunMs = clock.monotonicMs();
    this.path = path;
    this.startMs = clock.nowMs();
    this.sentHeaders = headers;
    // A character has a byte or more.
    const isWhole = body.length <= bytesMax;
    this.sent = { text: body.slice(0, bytesMax), bytes: Buffer.byteLength(body), isWhole };
  }

  /** Records the chunks of a response as they are read. */
  answer(response: IncomingMessage): void {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#note();
    const read = response.read.bind(response);
    response.read = (size?: number) => {
      const chunk: Buffer | null = read(size);
      if (chunk !== null) {
        this.#take(chunk);
      }
      return chunk;
    };
  }

  /** What was read so far. */
  get received(): RecordedBody {
    const isWhole = this.#bytes <= this.#bytesMax;
    return { text: Buffer.concat(this.#chunks).toString(), bytes: this.#bytes, isWhole };
  }

  #take(chunk: Buffer): void {
    const leftBytes = this.#bytesMax - this.#bytes;
    if (leftBytes > 0) {
      this.#chunks.push(chunk.subarray(0, leftBytes));
    }
    this.#bytes += chunk.byteLength;
    this.#note();
  }

  #note(): void {
    this.durationMs = this.#clock.monotonicMs() - this.#begunMs;
  }
}
