// Answers in JSON that may take as long as a run.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { endStream, type RestResponse, sendJson, setHead, writePiece } from "../rest/respond.ts";

/**
 * Sends a JSON answer that may take long. Clients give up after five minutes without a byte: after a minute the answer begins
 * with status 200 and white space, which JSON allows.
 */
export class SlowJson {
  readonly #response: RestResponse;
  #heartbeats = 0;

  constructor(response: RestResponse) {
    this.#response = response;
  }

  /** Takes the results of a log until it is over. Its empty batches keep the answer alive. */
  async takeAll(
    log: AsyncIterable<readonly RunResult[]>,
    take: (result: RunResult) => void,
    isOver: () => boolean = () => false,
  ): Promise<void> {
    for await (const results of log) {
      if (results.length === 0) {
        await this.beat();
      }
      for (const result of results) {
        take(result);
      }
      if (isOver()) {
        return;
      }
    }
  }

  /** Call it every 15 s. */
  async beat(): Promise<void> {
    this.#heartbeats += 1;
    if (this.#heartbeats === heldHeartbeats) {
      setHead(this.#response, 200, { "content-type": "application/json" });
      begun.add(this.#response);
    }
    if (this.#heartbeats >= heldHeartbeats) {
      await writePiece(this.#response, " ");
    }
  }

  send(status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
    const json = JSON.stringify(body);
    if (this.#response.headersSent) {
      endSlowJson(this.#response, json);
    } else {
      sendJson(this.#response, status, json, headers);
    }
  }
}

const begun = new WeakSet<RestResponse>();

/** Ends an answer that has begun with white space. Does nothing with others. */
export function endSlowJson(response: RestResponse, json: string): void {
  if (begun.delete(response)) {
    endStream(response, `${json}\n`);
  }
}

/** The first empty batch comes at once, then four more in a minute. */
const heldHeartbeats = 5;

/** A comment: it keeps a silent stream alive. */
export const keepAlive = ": keep-alive\n\n";
