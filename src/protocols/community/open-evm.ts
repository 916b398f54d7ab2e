// Opens the chain by the settings: off by default.

import type { Clock } from "../../platform/base/clock.ts";
import type { Config } from "../../platform/config/keys.ts";
import { readAllowed } from "./evm/allow.ts";
import type { Chain } from "./evm/chain.ts";
import { openChain } from "./evm/open.ts";

/** The maximum wait for a confirmation: several blocks of any chain in use. */
const confirmTimeoutMs = 120_000;

/** Opens the chain of the settings. Transactions are off unless they are enabled and node, chain id and key are set. */
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
