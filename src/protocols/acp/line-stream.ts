// The messages of a program: JSON, one a line. What the SDK needs goes to it; updates go to the driver, in the order in which they came.
//
// L1  Reading stops while many updates wait, so a program that floods has to wait.
// L2  A line that is no message is left out: some programs print others. A line that is too long breaks the connection.

import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import type { ServedProgram } from "../../agent/tools/bash/served-program.ts";
import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";
import { messageBytesMax } from "./limits.ts";

/** Takes the updates of a program. */
export interface UpdateTaker {
  /** Takes an update of a session. Returns false when no further one should be read for now. */
  take(update: unknown, sessionId: unknown): boolean;
  /** Calls back once more updates may be read. */
  onRoom(resume: () => void): void;
}

/** Opens the messages of a program as the stream that the SDK reads. */
export function openLines({ child, broken }: ServedProgram, updates: UpdateTaker): Stream {
  const asked = new Set<unknown>();
  const { stdin, stdout } = child;
  const lines = new Lines();
  const readable = new ReadableStream<AnyMessage>({
    start: (controller) => {
      stdin?.on("error", () => {});
      stdout?.on("data", (piece: Buffer) => {
        for (const line of lines.add(piece)) {
          // Programs of .NET begin with a byte order mark.
          const message = parseObject(line.replace(/^\ufeff/, ""));
          if (message?.method === "session/update") {
            const { update, sessionId } = isObject(message.params) ? message.params : {};
            if (!updates.take(update, sessionId)) {
              stdout.pause();
            }
          } else if (message !== undefined && isExpected(message)) {
            controller.enqueue(message as AnyMessage);
          }
        }
        if (lines.isTooLong) {
          broken.abort(new Error(`the program wrote a message of more than ${messageBytesMax} bytes`));
        }
      });
      updates.onRoom(() => stdout?.resume());
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write: (message) =>
      new Promise((resolve) => {
        if ("method" in message && "id" in message) {
          asked.add(message.id);
        }
        // A write to a program that has ended fails, and the end itself is reported.
        stdin?.write(`${JSON.stringify(message)}\n`, () => resolve());
      }),
  });
  /** The SDK prints answers without a request. */
  function isExpected({ method, id }: Readonly<Record<string, unknown>>): boolean {
    return typeof method === "string" || asked.delete(id);
  }
  return { readable, writable };
}

/** Cuts pieces into lines. */
class Lines {
  #pieces: Buffer[] = [];
  #bytes = 0;

  get isTooLong(): boolean {
    return this.#bytes > messageBytesMax;
  }

  add(piece: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = piece.indexOf("\n"); end !== -1; end = piece.indexOf("\n", start)) {
      lines.push(Buffer.concat([...this.#pieces, piece.subarray(start, end)]).toString("utf8"));
      this.#pieces = [];
      this.#bytes = 0;
      start = end + 1;
    }
    const rest = piece.subarray(start);
    this.#bytes += rest.length;
    // Nothing more is kept of a line that is too long.
    if (!this.isTooLong) {
      this.#pieces.push(rest);
    }
    return lines;
  }
}
