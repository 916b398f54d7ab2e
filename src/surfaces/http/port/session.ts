// One HTTP/2 session over time: whether its peer is there, has anything to do, and has stayed long enough.

import type { ServerHttp2Session } from "node:http2";
import { type OnePortLimits, orNever } from "./limits.ts";
import { OpenStreams } from "./streams.ts";

export interface H2ConnectionOptions {
  readonly limits: OnePortLimits;
  /** Counts the sessions of the port, so that those opened together do not end together. */
  readonly ordinal: number;
  readonly nowMs: () => number;
}

export class H2Connection {
  readonly protocol = "h2";
  readonly #session: ServerHttp2Session;
  readonly #limits: OnePortLimits;
  readonly #nowMs: () => number;
  readonly #streams: OpenStreams;
  readonly #sinceMs: number;
  readonly #ageMaxMs: number;
  /** The peer's SETTINGS have arrived, which completes its preface. */
  #isSettled = false;
  /** When the last stream ended, or when the session without streams was told to go. */
  #quietSinceMs: number;
  #pingedMs: number;
  #isPingPending = false;

  constructor(session: ServerHttp2Session, { limits, ordinal, nowMs }: H2ConnectionOptions) {
    this.#session = session;
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#streams = new OpenStreams(orNever(limits.h2RequestTimeoutMs));
    this.#sinceMs = nowMs();
    this.#ageMaxMs = spreadAge(limits.h2SessionAgeMs, ordinal);
    this.#quietSinceMs = this.#sinceMs;
    this.#pingedMs = this.#sinceMs;
    session.once("remoteSettings", () => {
      this.#isSettled = true;
    });
    session.on("stream", (stream) => {
      this.#streams.add(stream, nowMs());
      stream.once("close", () => {
        this.#quietSinceMs = nowMs();
      });
    });
  }

  /** Holds the peer to its limits. False when it is to lose its connection. */
  check(): boolean {
    this.#streams.check(this.#nowMs());
    const verdict = this.#judge();
    if (verdict === "retire") {
      this.retire();
    } else if (verdict === "ping") {
      this.#ping();
    }
    return verdict !== "destroy";
  }

  /** Sends GOAWAY: running streams may finish, new ones are refused in a way that tells clients to go elsewhere. */
  retire(): void {
    this.#quietSinceMs = this.#nowMs();
    this.#session.close();
  }

  #judge(): "keep" | "ping" | "retire" | "destroy" {
    const limits = this.#limits;
    const hasStreams = this.#streams.count > 0;
    const ageMs = this.#nowMs() - this.#sinceMs;
    const quietMs = hasStreams ? 0 : this.#nowMs() - this.#quietSinceMs;
    const sincePingMs = this.#nowMs() - this.#pingedMs;
    if (!this.#isSettled && ageMs > limits.prefaceTimeoutMs) {
      return "destroy";
    }
    if (this.#isPingPending && sincePingMs > limits.h2PingTimeoutMs) {
      return "destroy";
    }
    if (ageMs > this.#ageMaxMs + limits.h2RetiredAgeMs) {
      return "destroy";
    }
    if (this.#session.destroyed || (this.#session.closed && !hasStreams)) {
      return quietMs > limits.h2LingerTimeoutMs ? "destroy" : "keep";
    }
    if (!this.#session.closed && (quietMs > orNever(limits.h2IdleTimeoutMs) || ageMs > this.#ageMaxMs)) {
      return "retire";
    }
    // A closed session that still has streams is pinged too: its peer may vanish like any other.
    return sincePingMs >= limits.h2PingIntervalMs ? "ping" : "keep";
  }

  #ping(): void {
    this.#pingedMs = this.#nowMs();
    this.#isPingPending = true;
    this.#session.ping((error) => {
      // The error says that the session is gone; its socket is about to close.
      this.#isPingPending = error !== null;
    });
  }
}

/** `ageMs` give or take a tenth, by a golden-ratio sequence: sessions opened together do not end together. */
function spreadAge(ageMs: number, ordinal: number): number {
  const goldenRatio = 0.618_034;
  return ageMs * (0.9 + 0.2 * ((ordinal * goldenRatio) % 1));
}
