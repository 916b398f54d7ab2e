// The way to the chain as the settings have it: off unless they say otherwise.

import type { Clock } from "../base/clock.ts";
import { readAllowed } from "../chain/allow.ts";
import type { Chain } from "../chain/chain.ts";
import { openChain } from "../chain/open.ts";
import type { Config } from "../config/keys.ts";

/** Several blocks of any chain that is in use. */
const confirmTimeoutMs = 120_000;

export async function openChainOf(config: Config, clock: Clock): Promise<Chain> {
  const { txEnabled, txRpcUrl: rpcUrl, txChainId: chainId, txPrivateKey: privateKey } = config;
  if (!txEnabled || rpcUrl === "" || privateKey === "" || chainId === undefined) {
    return await openChain(undefined);
  }
  return await openChain({
    rpcUrl,
    chainId,
    privateKey,
    allowed: readAllowed(config.txAllow),
    valueMaxWei: BigInt(config.txValueMaxWei),
    gasMax: BigInt(config.txGasMax),
    dryRun: config.txDryRun,
    confirmTimeoutMs,
    clock,
  });
}
