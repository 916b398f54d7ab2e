// The way to the chain, or the answer that there is none. The library takes a moment to load, and so only where it is used.

import type { Chain, ChainOptions } from "./chain.ts";

/** Undefined: transactions are off, or there is no key or no node. */
export async function openChain(options: ChainOptions | undefined): Promise<Chain> {
  if (options === undefined) {
    return closed;
  }
  const { createChain } = await import("./chain.ts");
  return createChain(options);
}

/** In the document's words. */
const missing = { error: "Execution wallet or Alchemy key missing." } as const;

const closed: Chain = {
  execute: async () => missing,
  prepare: async () => missing,
  broadcast: async () => ({ state: "refused", ...missing }),
  abandon: () => {},
  confirm: async () => missing,
};
