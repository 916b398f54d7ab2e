// Turns one response of the Messages format into ModelParts, event by event. No socket, no clock. Calls are held back until the
// response is complete. A line that is invalid JSON, and an unknown event, block or delta are skipped, unless a call may have lost a
// piece. A known delta of unknown form is a failure, because it would lose a piece of the answer.
//
// R1  A second message before the first has ended replaces it, as when a proxy has tried again. Text that was given is void for a
//     caller that takes a restart, three times; for any other one the response is cut. The same message may begin twice.

import type { ModelPart, ModelToolCall } from "../model.ts";
import { describeCut, describeStreamError } from "../wire/failures.ts";
import { asRecord, readFrame, WrittenValue } from "../wire/frame.ts";
import type { Origin } from "../wire/origin.ts";
import { SkippedFrames } from "../wire/skipped.ts";
import type { ResponseReader } from "../wire/stream.ts";
import { ResponseMessage } from "./response-message.ts";

type Fields = Readonly<Record<string, unknown>>;

/** As often as Runnel itself asks again. */
const restartsMax = 3;

/** Reads the events of one response. */
export class MessagesReader implements ResponseReader {
  readonly skipped = new SkippedFrames();
  readonly #origin: Origin;
  readonly #earlier: readonly ModelToolCall[];
  #restartsLeft: number;
  #message: ResponseMessage;
  #isOver = false;

  /** `earlier` are the provider calls of the turn that have no result yet. */
  constructor(origin: Origin, earlier: readonly ModelToolCall[], takesRestart = false) {
    this.#origin = origin;
    this.#earlier = earlier;
    this.#restartsLeft = takesRestart ? restartsMax : 0;
    this.#message = new ResponseMessage(origin, earlier, this.skipped);
  }

  /** True after the last event. */
  get isOver(): boolean {
    return this.#isOver;
  }

  read(data: string, event?: string): readonly ModelPart[] {
    const frame = readFrame(data);
    if (event === "error") {
      return [describeStreamError(frame?.error ?? frame ?? data)];
    }
    if (frame === undefined) {
      this.#message.addLost(data);
      return nothing;
    }
    switch (frame.type) {
      case "content_block_delta":
        return this.#message.continueBlock(asRecord(frame.delta), frame.index, data);
      case "content_block_start":
        return this.#message.beginBlock(
          asRecord(frame.content_block),
          new WrittenValue(data).at("content_block"),
          frame.index,
        );
      case "message_start":
        return this.#start(asRecord(frame.message), data);
      case "message_delta":
        return this.#message.addEnd(asRecord(frame.delta), frame.usage);
      case "message_stop":
        this.#isOver = true;
        return nothing;
      case "error":
        return [describeStreamError(frame.error ?? frame)];
      case "content_block_stop":
      case "ping":
        return nothing;
      default:
        return this.#readOther(frame);
    }
  }

  end(isMarked: boolean): readonly ModelPart[] {
    return this.#message.end(isMarked || this.#isOver);
  }

  /** Gateways send their own errors without a type. */
  #readOther({ type, error }: Fields): readonly ModelPart[] {
    if (error !== undefined && error !== null) {
      return [describeStreamError(error)];
    }
    this.skipped.add("event", type);
    return nothing;
  }

  #start(head: Fields, data: string): readonly ModelPart[] {
    if (this.#message.hasEnded) {
      // Another response in one stream.
      this.#isOver = true;
      return nothing;
    }
    if (!this.#message.isOther(head)) {
      return this.#message.begin(head, data);
    }
    const { hasSpoken } = this.#message;
    if (hasSpoken) {
      if (this.#restartsLeft === 0) {
        return [describeCut(this.#origin.provider)];
      }
      this.#restartsLeft -= 1;
    }
    this.#message = new ResponseMessage(this.#origin, this.#earlier, this.skipped);
    const begun = this.#message.begin(head, data);
    return hasSpoken ? [{ type: "restart" }, ...begun] : begun;
  }
}

const nothing: readonly ModelPart[] = [];
