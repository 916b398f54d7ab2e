// The results of a run as they arrive: an iterator that knows the text so far, and how the run has ended.

import type { ToolCall } from "../../../gen/runnel/v1/message_pb.js";
import type { RunResult } from "../../../gen/runnel/v1/result_pb.js";
import { RunText } from "./text.ts";

/** How a run has ended. */
export interface RunEnd {
  readonly runId: string;
  readonly state: "completed" | "failed" | "cancelled";
  /** All text of the run, without void parts. */
  readonly text: string;
  /** The text of its last message. */
  readonly output: string;
  /** The finish reason of a completed run, or the code of a failure. */
  readonly code: string;
  /** What a failed run says about it; empty otherwise. */
  readonly error: string;
  /** Calls of functions that the caller has to answer. */
  readonly pendingToolCalls: readonly ToolCall[];
  /** The terminal result itself. */
  readonly result: RunResult;
}

/** Iterate it for the results, each once and in order; or await `finish()`. It can be read once. */
export class RunStream implements AsyncIterable<RunResult> {
  readonly #results: AsyncGenerator<RunResult, void>;
  #runId = "";
  #text = new RunText();
  #last: RunResult | undefined;

  constructor(results: AsyncGenerator<RunResult, void>) {
    this.#results = results;
  }

  /** The valid text of the run so far. It gets shorter when a turn begins again. */
  get text(): string {
    return String(this.#text);
  }

  /** The sequence of the last result: continue after it with `follow(runId, after)`. */
  get sequence(): bigint {
    return this.#last?.sequence ?? 0n;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunResult, void> {
    for await (const result of this.#results) {
      if (result.runId !== this.#runId) {
        this.#runId = result.runId;
        this.#text = new RunText();
      }
      this.#text.add(result);
      this.#last = result;
      yield result;
    }
  }

  /** Reads what is left, and resolves with the end of the run. Rejects with a RunnelError when it cannot be read. */
  async finish(): Promise<RunEnd> {
    for await (const _ of this) {
      // The iterator keeps the text.
    }
    if (this.#last === undefined) {
      throw new TypeError("no result came: the run had ended before the place where this stream began");
    }
    return readEnd(this.#last, this.text);
  }
}

/** Returns whether a result is the last one of its run. */
export function isTerminal({ payload }: RunResult): boolean {
  return payload.case === "runCompleted" || payload.case === "runFailed";
}

function readEnd(result: RunResult, text: string): RunEnd {
  const { runId, payload } = result;
  if (payload.case === "runCompleted") {
    const { finishReason, message, output, pendingToolCalls } = payload.value;
    const shown = message === undefined ? output : textOf(message.content);
    return { runId, state: "completed", text, output: shown, code: finishReason, error: "", pendingToolCalls, result };
  }
  if (payload.case === "runFailed") {
    const { code, error, output } = payload.value;
    const state = code === "cancelled" ? "cancelled" : "failed";
    return { runId, state, text, output, code, error, pendingToolCalls: [], result };
  }
  throw new TypeError("the stream was left before its end: follow the run again");
}

type Content = NonNullable<Extract<RunResult["payload"], { case: "messageCompleted" }>["value"]["message"]>["content"];

function textOf(content: Content): string {
  if (content.case === "parts") {
    return content.value.elements.map(({ text }) => text ?? "").join("");
  }
  return content.value ?? "";
}
