// What agents may do on a chain: `decisions.tx`.

import { Expected, type Key } from "../key.ts";
import { flag, integer, list, optional, secret, text } from "../kinds.ts";

/** Larger ids exist nowhere, and JSON holds them whole. */
const chainIdMax = 2 ** 48;
/** What a block of the larger chains has room for. */
const gasMax = 100_000_000;

export const txKeys = {
  txEnabled: flag({
    path: "decisions.tx.enabled",
    fallback: false,
    about: "Whether agents may call contracts and send transactions. It needs the three settings that follow.",
  }),
  txRpcUrl: {
    ...secret({
      path: "decisions.tx.rpc_url",
      about: "JSON-RPC address of a node of the chain; secret, since rented ones have a key in it.",
    }),
    read: (value: string) => (isHttpUrl(value) ? value : new Expected("an http or https URL")),
  },
  txChainId: optional(
    integer({
      path: "decisions.tx.chain_id",
      fallback: 1,
      min: 1,
      max: chainIdMax,
      about: "Id of the chain. If the node is of another one, nothing is called.",
    }),
  ),
  txPrivateKey: {
    ...secret({ path: "decisions.tx.private_key", about: "Private key that signs transactions, in hex." }),
    read: (value: string) => (/^(?:0x)?[0-9a-f]{64}$/i.test(value) ? value : new Expected("64 hex digits")),
  },
  txAllow: list({
    path: "decisions.tx.allow",
    item: /^0x[0-9a-f]{40}:[a-z_$][\w$]*$/i,
    expected: "functions of contracts as 0xaddress:function",
    about: "What may be called, each as `0xaddress:function`, of what a community offers.",
  }),
  txValueMaxWei: {
    ...text({
      path: "decisions.tx.value_max_wei",
      fallback: "0",
      about: "Most wei that one transaction carries, without its fee.",
    }),
    read: (value: string) => (/^\d{1,78}$/.test(value) ? value : new Expected("wei as a whole number")),
  },
  txGasMax: integer({
    path: "decisions.tx.gas_max",
    fallback: 500_000,
    min: 21_000,
    max: gasMax,
    about: "Most gas that one transaction may use.",
  }),
  txDryRun: flag({
    path: "decisions.tx.dry_run",
    fallback: false,
    about: "Simulate transactions and send none.",
  }),
} as const satisfies Record<string, Key<unknown>>;

const urlCharsMax = 2_000;

function isHttpUrl(value: string): boolean {
  const protocol = URL.parse(value)?.protocol;
  return (protocol === "http:" || protocol === "https:") && value.length <= urlCharsMax;
}
