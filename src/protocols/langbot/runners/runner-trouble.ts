// Describes why a call to a dialled runner failed, in words that the runner's owner may see.

import { Code, ConnectError } from "@connectrpc/connect";
import { EgressFailure } from "../../../platform/egress/failure.ts";

/** A failure of a call to a dialled runner. */
export interface RunnerTrouble {
  /**
   * `blocked`: the runner was not dialled, or could not be trusted · `refused`: the runner refused the call · `late`: the time
   * was over · `lost`: the runner did not answer, or the connection broke.
   */
  readonly kind: "blocked" | "refused" | "late" | "lost";
  readonly code: Code | undefined;
  readonly words: string;
}

/** Describes an error of a call. Rethrows errors that have nothing to do with the runner. */
export function describeRunnerTrouble(error: unknown): RunnerTrouble {
  if (error instanceof EgressFailure) {
    return { kind: error.isRetryable ? "lost" : "blocked", code: undefined, words: error.message };
  }
  if (!(error instanceof ConnectError)) {
    throw error;
  }
  const { code } = error;
  if (code === Code.DeadlineExceeded) {
    return { kind: "late", code, words: "it did not answer in time" };
  }
  if (refusals.has(code)) {
    return { kind: "refused", code, words: `${Code[code]}: ${bound(error.rawMessage)}` };
  }
  // Not the error's own message: it may be Node's, which contains addresses.
  return { kind: "lost", code, words: `the call failed (${Code[code]})` };
}

/** The codes with which a runner refuses a call, and those of messages that cannot be taken. */
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
