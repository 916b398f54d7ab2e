// Run tokens, with which a runner calls its host while it works on a run. They contain the run, the attempt, and a MAC by a key
// that all replicas share, so any replica can verify one without a query. Whether the run is still active is checked on each
// call.

import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../base/fault.ts";
import type { RunAttempt } from "./caller.ts";

const prefix = "rrun_";

/** Creates and verifies run tokens. */
export class RunTokens {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Returns a token: `rrun_<run id>.<attempt>.<MAC>`. */
  make({ runId, attempt }: RunAttempt): string {
    const mac = createHmac("sha256", this.#key)
      .update(JSON.stringify([runId, attempt]))
      .digest("base64url");
    return `${prefix}${runId}.${attempt}.${mac}`;
  }

  /** Returns the content of a token. Throws TOKEN_INVALID when this service did not create it. */
  open(token: string): RunAttempt {
    const claim = this.read(token);
    if (claim === undefined) {
      throw new Fault("TOKEN_INVALID", "invalid run token");
    }
    return claim;
  }

  /** Returns the content of a token, or undefined when this service did not create it. */
  read(token: string): RunAttempt | undefined {
    const [, runId = "", attempt = ""] = /^rrun_([0-9a-f-]{36})\.(\d{1,9})\./.exec(token) ?? [];
    const claim = { runId, attempt: Number(attempt) };
    const [given, expected] = [Buffer.from(token), Buffer.from(this.make(claim))];
    return given.length === expected.length && timingSafeEqual(given, expected) ? claim : undefined;
  }
}

/** Returns true for a text with the prefix of run tokens. */
export function isRunToken(token: string): boolean {
  return token.startsWith(prefix);
}
