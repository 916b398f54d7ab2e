// Why a call to a runner that is dialled came to nothing, in words that may be shown to whoever owns the runner.

import { Code, ConnectError } from "@connectrpc/connect";
import { EgressFailure } from "../../../platform/egress/failure.ts";

export interface RunnerTrouble {
  /**
   * `blocked`: nothing was dialled, or nothing that could be trusted · `refused`: the runner said no · `late`: its time was over ·
   * `lost`: nobody was there, or the connection broke.
   */
  readonly kind: "blocked" | "refused" | "late" | "lost";
  readonly code: Code | undefined;
  readonly words: string;
}

/** Rethrows what has nothing to do with the runner. */
export function describeRunnerTrouble(error: unknown): RunnerTrouble {
  if (error instanceof EgressFailure) {
    return { kind: error.isRetryable ? "lost" : "blocked", code: undefined, words: error.message };
  }
  if (!(error instanceof ConnectError)) {
    throw error;
  }
  const { code } = error;
  if (code === Code.DeadlineExceeded) {
    return { kind: "late", code, words: "its time is over" };
  }
  if (refusals.has(code)) {
    return { kind: "refused", code, words: `${Code[code]}: ${bound(error.rawMessage)}` };
  }
  // These words may be Node's own, which name addresses.
  return { kind: "lost", code, words: `the call broke (${Code[code]})` };
}

/** What a runner says on purpose, and what is said of messages that cannot be taken. */
const refusals: ReadonlySet<Code> = new Set([
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.Unimplemented,
  Code.ResourceExhausted,
]);

const wordsCharsMax = 500;

function bound(words: string): string {
  const text = words.replaceAll(/\p{Cc}/gu, " ");
  return (text.length > wordsCharsMax ? `${text.slice(0, wordsCharsMax)}…` : text).toWellFormed();
}
