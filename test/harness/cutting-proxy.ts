// A proxy before Postgres that a test can cut: at the worst moment, after the server has done its work and before its answer
// arrives, or altogether.

import { type Link, openWire, wireToDatabase } from "./wire.ts";

export interface CuttingProxy {
  /** The database behind the proxy. */
  readonly url: string;
  /** The number of answers that were cut off. */
  readonly cuts: number;
  /** Cuts the next connection that sends these words, when the server answers. */
  cutAnswerTo(words: string): void;
  /** Cuts every connection and refuses new ones until it is mended. */
  breakDown(): void;
  mend(): void;
}

export async function openCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const { connectFar, urlAt } = wireToDatabase(databaseUrl);
  const marked = new WeakSet<Link>();
  let wanted: string | undefined;
  let cuts = 0;
  let isBroken = false;

  const wire = await openWire({
    connectFar: () => (isBroken ? undefined : connectFar()),
    inspect: (link, data, from) => {
      if (from === "near") {
        if (wanted !== undefined && data.includes(wanted)) {
          wanted = undefined;
          marked.add(link);
        }
        return true;
      }
      if (!marked.has(link)) {
        return true;
      }
      cuts++;
      link.cut();
      return false;
    },
  });
  return {
    url: urlAt(wire),
    get cuts() {
      return cuts;
    },
    cutAnswerTo: (words) => {
      wanted = words;
    },
    breakDown: () => {
      isBroken = true;
      for (const link of wire.links) {
        link.cut();
      }
    },
    mend: () => {
      isBroken = false;
    },
  };
}
