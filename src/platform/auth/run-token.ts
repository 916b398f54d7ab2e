// Run tokens: what a runner calls its host with while it works on a run. They hold the run and the attempt, and a MAC by a key
// that all replicas share, so any of them can tell a right one without asking. Whether the run is still active is asked for each
// call.

import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../base/fault.ts";
import type { RunAttempt } from "./caller.ts";

const prefix = "rrun_";

export class RunTokens {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  make({ runId, attempt }: RunAttempt): string {
    const mac = createHmac("sha256", this.#key)
      .update(JSON.stringify([runId, attempt]))
      .digest("base64url");
    return `${prefix}${runId}.${attempt}.${mac}`;
  }

  /** Throws TOKEN_INVALID for whatever was not made here. */
  open(token: string): RunAttempt {
    const told = this.read(token);
    if (told === undefined) {
      throw new Fault("TOKEN_INVALID", "invalid run token");
    }
    return told;
  }

  /** Returns undefined for a token that was not made here. */
  read(token: string): RunAttempt | undefined {
    const [, runId = "", attempt = ""] = /^rrun_([0-9a-f-]{36})\.(\d{1,9})\./.exec(token) ?? [];
    const told = { runId, attempt: Number(attempt) };
    const [given, expected] = [Buffer.from(token), Buffer.from(this.make(told))];
    return given.length === expected.length && timingSafeEqual(given, expected) ? told : undefined;
  }
}

export function isRunToken(token: string): boolean {
  return token.startsWith(prefix);
}
