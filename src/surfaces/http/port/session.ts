// The lifetime of one HTTP/2 session: whether its peer is alive, whether it has streams, and its age.

import type { ServerHttp2Session } from "node:http2";
import { type OnePortLimits, orNever } from "./limits.ts";
import { OpenStreams } from "./streams.ts";

/** Options of an HTTP/2 connection. */
export interface H2ConnectionOptions {
  readonly limits: OnePortLimits;
  /** The number of the session on this port, so that sessions opened together do not end together. */
  readonly ordinal: number;
  readonly nowMs: () => number;
}

/** An HTTP/2 session that the port checks against its limits. */
export class H2Connection {
  readonly protocol = "h2";
  readonly #session: ServerHttp2Session;
  readonly #limits: OnePortLimits;
  readonly #nowMs: () => number;
  readonly #streams: OpenStreams;
  readonly #sinceMs: number;
  readonly #ageMaxMs: number;
  /** True when the peer's SETTINGS have arrived, which completes its preface. */
  #isSettled = false;
  /** The time when the last stream ended, or when GOAWAY was sent on a session without streams. */
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

  /** Checks the peer against its limits. Returns false when the caller must destroy its connection. */
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

  /** Sends GOAWAY: running streams may finish, and the refusal of new ones makes clients connect elsewhere. */
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
    // A closed session that still has streams gets pings too: its peer may vanish like any other.
    return sincePingMs >= limits.h2PingIntervalMs ? "ping" : "keep";
  }

  #ping(): void {
    this.#pingedMs = this.#nowMs();
    this.#isPingPending = true;
    this.#session.ping((error) => {
      // An error means that the session has ended; its socket is about to close.
      this.#isPingPending = error !== null;
    });
  }
}

/** Returns `ageMs` plus or minus a tenth, by a golden-ratio sequence: sessions opened together do not end together. */
function spreadAge(ageMs: number, ordinal: number): number {
  const goldenRatio = 0.618_034;
  return ageMs * (0.9 + 0.2 * ((ordinal * goldenRatio) % 1));
}
