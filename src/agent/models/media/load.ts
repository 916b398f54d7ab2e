// Loads images and files from clients' URLs through the guarded egress. A URL that is refused, has expired or does not answer
// in time does not fail the request. Its placeholder says why it was not loaded.

import type { Clock } from "../../../platform/base/clock.ts";
import { EgressFailure } from "../../../platform/egress/failure.ts";
import type { Egress } from "../../../platform/egress/post.ts";
import { downloadsTimeoutMs, downloadTimeoutMs } from "./limits.ts";

/** What a download needs. */
export interface LoadDeps {
  readonly egress: Pick<Egress, "get">;
  readonly clock: Clock;
}

/** Returns the loader of one request. The loader throws only the signal's reason. */
export function createLoad({ egress, clock }: LoadDeps, signal: AbortSignal) {
  const endMs = clock.monotonicMs() + downloadsTimeoutMs;
  const loaded = new Map<string, Uint8Array | string>();
  return async ({ href }: URL, bytesMax: number): Promise<Uint8Array | string> => {
    const timeoutMs = Math.min(downloadTimeoutMs, endMs - clock.monotonicMs());
    const known = loaded.get(href);
    if (known !== undefined || timeoutMs <= 0) {
      return known ?? "it could not be loaded in time";
    }
    const answer = await get(egress, { url: href, timeoutMs, responseBytesMax: bytesMax, signal });
    loaded.set(href, answer);
    return answer;
  };
}

async function get(
  egress: LoadDeps["egress"],
  request: Omit<Parameters<Egress["get"]>[0], "what">,
): Promise<Uint8Array | string> {
  try {
    const { status, bytes, isCut } = await egress.get({ ...request, what: "file" });
    if (status !== 200) {
      return `it could not be loaded: its host answered with status ${status}`;
    }
    return isCut
      ? `it is larger than the ${request.responseBytesMax.toLocaleString("en-US")} bytes that are left for it`
      : bytes;
  } catch (error) {
    if (error instanceof EgressFailure) {
      // The message about a refused host may name an address inside the operator's network.
      return `it could not be loaded: ${error.isRetryable ? error.message : "its host is not public or not trusted"}`;
    }
    throw error;
  }
}
