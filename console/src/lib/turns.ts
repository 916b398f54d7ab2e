// Turns of tabs at the connections of the browser. Over HTTP/1.1 it opens six to a service for all tabs together. Streams that tabs
// share take two, calls need one, and logs get the others: with more logs in sight, tabs take turns.

import { consoleBase } from "../api/transport.ts";

/** A stream that may be open until `over`. */
export interface Turn {
  /** Aborted when another tab waits. */
  readonly over: AbortSignal;
  readonly end: () => void;
}

const places = ["a", "b", "c"].map((place) => `${consoleBase} log ${place}`);
const turnMs = 2_000;

/** Waits for a place. Returns undefined where the browser needs no turns, or cannot coordinate its tabs. */
export async function takeTurn(stop: AbortSignal): Promise<Turn | undefined> {
  if (!isLimited()) {
    return undefined;
  }
  const release = await takePlace(stop);
  const over = new AbortController();
  const timer = setInterval(async () => {
    if (await isAwaited()) {
      over.abort();
    }
  }, turnMs);
  return {
    over: over.signal,
    end: () => {
      clearInterval(timer);
      release();
    },
  };
}

/** Web Locks need a secure origin, such as one on loopback. HTTP/2 carries all streams in one connection. */
function isLimited(): boolean {
  const [page] = performance.getEntriesByType("navigation");
  const protocol = page instanceof PerformanceNavigationTiming ? page.nextHopProtocol : "";
  return "locks" in navigator && protocol.startsWith("http/1");
}

/** Asks for all places, and keeps the first that is free. */
function takePlace(stop: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const found = new AbortController();
    const signal = AbortSignal.any([stop, found.signal]);
    const keep = (): Promise<void> | undefined => {
      if (found.signal.aborted) {
        return undefined;
      }
      found.abort();
      return new Promise((release) => resolve(release));
    };
    for (const place of places) {
      navigator.locks.request(place, { signal }, keep).catch(reject);
    }
  });
}

async function isAwaited(): Promise<boolean> {
  const { pending = [] } = await navigator.locks.query();
  return pending.some(({ name = "" }) => places.includes(name));
}
