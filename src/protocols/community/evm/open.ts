// Opens the chain, or a substitute without transactions. The library loads slowly, so it is loaded only when needed.

import type { Chain, ChainOptions } from "./chain.ts";

/** Opens the chain. Undefined options mean that transactions are off, or that the key or the node is missing. */
export async function openChain(options: ChainOptions | undefined): Promise<Chain> {
  if (options === undefined) {
    return closed;
  }
  const { createChain } = await import("./chain.ts");
  return createChain(options);
}

/** The answer in the document's words. */
const missing = { error: "Execution wallet or Alchemy key missing." } as const;

const closed: Chain = {
  execute: async () => missing,
  prepare: async () => missing,
  broadcast: async () => ({ state: "refused", ...missing }),
  abandon: () => {},
  confirm: async () => missing,
};
