// One stream for all tabs of a browser. A Web Lock chooses the tab that holds it open; the others get its responses through a
// BroadcastChannel. When that tab is hidden or closed, another one continues after the last response that it has.

import { type Code, ConnectError } from "@connectrpc/connect";
import { type Followed, follow, keepReading, type StreamPhase, untilVisible } from "./stream.ts";
import { pageVisible } from "./visible.ts";

export interface SharedStream<Response> extends Followed<Response> {
  /** Equal in tabs that may share: the stream, and who reads it. It stays in the browser. */
  readonly name: string;
  readonly encode: (response: Response) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => Response;
  /** What brings a tab that joins to the state of this one. */
  readonly recall: () => readonly Response[];
}

/** What the tab with the stream tells the others. */
interface News {
  readonly responses: readonly Uint8Array[];
  readonly phase: SentPhase;
}

/** An error does not survive its way to another tab. */
type SentPhase =
  | Exclude<StreamPhase, { readonly name: "refused" }>
  | { readonly name: "refused"; readonly code: Code; readonly message: string };

/** A tab that has just been opened asks. */
const question = "what is known?";

/** Follows a stream together with other tabs until the returned function is called. */
export function followTogether<Response>(shared: SharedStream<Response>): () => void {
  if (!("locks" in navigator)) {
    // Web Locks need a secure origin, such as one on loopback.
    return follow(shared);
  }
  const stop = new AbortController();
  void takePart(shared, stop.signal);
  return () => stop.abort();
}

async function takePart<Response>(shared: SharedStream<Response>, stop: AbortSignal): Promise<void> {
  const channel = new BroadcastChannel(shared.name);
  stop.addEventListener("abort", () => channel.close(), { once: true });
  let leads = false;
  let phase: StreamPhase = { name: "connecting" };
  const tell = (responses: readonly Response[]): void => {
    if (stop.aborted) {
      return;
    }
    channel.postMessage({ responses: responses.map(shared.encode), phase: toSent(phase) } satisfies News);
  };
  channel.onmessage = ({ data }: MessageEvent<typeof question | News>) => {
    if (data === question) {
      if (leads) {
        tell(shared.recall());
      }
    } else if (!leads) {
      for (const bytes of data.responses) {
        shared.take(shared.decode(bytes));
      }
      shared.onPhase(fromSent(data.phase));
    }
  };
  const leading: Followed<Response> = {
    ...shared,
    take: (response) => {
      const madeMs = shared.take(response);
      tell([response]);
      return madeMs;
    },
    onPhase: (next) => {
      phase = next;
      shared.onPhase(next);
      tell([]);
    },
  };
  while (!stop.aborted) {
    await untilVisible(stop);
    if (stop.aborted || !pageVisible.get()) {
      continue;
    }
    const leave = whenHidden(stop);
    channel.postMessage(question);
    const lead = async (): Promise<void> => {
      leads = true;
      try {
        await keepReading(leading, leave);
        // A stream that was refused stays so for all tabs, until the key changes or a person looks again.
        await aborted(leave);
      } finally {
        leads = false;
      }
    };
    await navigator.locks.request(shared.name, { signal: leave }, lead).catch(ignoreAbort);
    if (!stop.aborted) {
      shared.onPhase({ name: "paused" });
    }
  }
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof DOMException && error.name === "AbortError")) {
    throw error;
  }
}

/** Returns a signal for the end of the caller's part: the page is hidden, or the stream is stopped. */
function whenHidden(stop: AbortSignal): AbortSignal {
  const hidden = new AbortController();
  const unsubscribe = pageVisible.subscribe(() => hidden.abort());
  const leave = AbortSignal.any([stop, hidden.signal]);
  leave.addEventListener("abort", unsubscribe, { once: true });
  return leave;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    }
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function toSent(phase: StreamPhase): SentPhase {
  return phase.name === "refused"
    ? { name: "refused", code: phase.error.code, message: phase.error.rawMessage }
    : phase;
}

function fromSent(phase: SentPhase): StreamPhase {
  return phase.name === "refused" ? { name: "refused", error: new ConnectError(phase.message, phase.code) } : phase;
}
