// Reads the server-sent events of a response directly from the socket: one hop instead of five.

import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { StreamBounds } from "./bounds.ts";
import { ProviderFailure } from "./failures.ts";

/** How events are read. */
export interface EventsOptions<Part> {
  /** The provider's name for failure messages. */
  readonly provider: string;
  readonly clock: Clock;
  /** Returns the parts of one event, given its data and its name. */
  readonly read: (data: string, name: string | undefined) => readonly Part[];
  /** Returns whether the event that was read last ends the response. */
  readonly isLast: () => boolean;
  /** Gets the parts of one read at once while the caller waits for more. Returns the parts that it has not taken. */
  readonly offer: (parts: readonly Part[]) => readonly Part[];
}

/** The last event of OpenAI-compatible services. */
const lastData = "[DONE]";

/** How long the response may take to end after the last event, so that its socket can serve the next request. */
const endGraceMs = 1_000;

/** The events of one response. Reads no further while parts wait for the caller. */
export class EventStream<Part> implements Disposable {
  readonly #response: IncomingMessage;
  readonly #options: EventsOptions<Part>;
  readonly #decoder = new StringDecoder("utf8");
  readonly #parser = createParser({ onEvent: ({ data, event }) => this.#readEvent(data, event) });
  readonly #bounds: StreamBounds;
  #parts: Part[] = [];
  #isOver = false;
  #isMarked = false;
  #error: unknown;
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(response: IncomingMessage, options: EventsOptions<Part>) {
    this.#response = response;
    this.#options = options;
    this.#bounds = new StreamBounds(options.provider);
    // The chunks of one socket read come together, and flowing mode would give each one alone.
    response.on("readable", () => this.#readChunks());
    finished(response, (error) => this.#end(error));
  }

  /**
   * Returns the parts of one read or more; undefined after the last event or at the end of the response.
   * @throws ProviderFailure when a line or an event is too long; an Error when the connection breaks.
   */
  async next(): Promise<readonly Part[] | undefined> {
    while (this.#parts.length === 0) {
      if (this.#error !== undefined) {
        throw this.#error;
      }
      if (this.#isOver) {
        await this.#awaitEnd();
        return undefined;
      }
      this.#readChunks();
      if (this.#parts.length === 0 && !this.#isOver) {
        this.#waiting = Promise.withResolvers();
        await this.#waiting.promise;
      }
    }
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  /** Whether the response has had the event that marks its end. */
  get isMarked(): boolean {
    return this.#isMarked;
  }

  /** Gives its memory back, and closes the socket unless the whole response has arrived. */
  [Symbol.dispose](): void {
    this.#bounds[Symbol.dispose]();
    if (!this.#response.complete) {
      this.#response.destroy();
    }
  }

  /** Reads what has arrived, unless parts wait for the caller. */
  #readChunks(): void {
    const chunk: Buffer | null = this.#parts.length === 0 ? this.#response.read() : null;
    if (chunk === null || this.#isOver) {
      return;
    }
    try {
      const failure = this.#bounds.check(chunk);
      if (failure !== undefined) {
        throw new ProviderFailure(failure);
      }
      this.#parser.feed(this.#decoder.write(chunk));
      if (this.#waiting !== undefined && this.#parts.length > 0) {
        this.#parts = [...this.#options.offer(this.#parts)];
      }
    } catch (error) {
      this.#end(error);
      return;
    }
    if (this.#parts.length > 0 || this.#isOver) {
      this.#wake();
    }
  }

  #readEvent(data: string, name: string | undefined): void {
    this.#isMarked ||= data === lastData;
    this.#isOver ||= this.#isMarked;
    if (!this.#isOver) {
      this.#parts.push(...this.#options.read(data, name));
      this.#isOver = this.#options.isLast();
    }
  }

  #end(error: unknown): void {
    // The connection may break after the last event, which harms nothing.
    if (!this.#isOver) {
      this.#error = error ?? this.#readRest();
      this.#isOver = true;
    }
    this.#wake();
  }

  /** Reads the last event of a response that ends without an empty line. Returns the error of reading. */
  #readRest(): unknown {
    try {
      this.#parser.feed(`${this.#decoder.end()}\n\n`);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #wake(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  async #awaitEnd(): Promise<void> {
    if (this.#response.closed) {
      return;
    }
    const ended = new AbortController();
    this.#response.once("close", () => ended.abort(over));
    // The end of a response counts as read only after a read.
    this.#response.read();
    await this.#options.clock.sleep(endGraceMs, ended.signal);
  }
}
