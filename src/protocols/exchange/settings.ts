// Settings of exchanges: `exchanges`.

import type { ProtocolSettings } from "../../api/protocol.ts";
import type { Key } from "../../platform/config/key.ts";
import type { ValuesOf } from "../../platform/config/keys.ts";
import { flag, integer } from "../../platform/config/kinds.ts";

const exchangeKeys = {
  exchangesCommands: flag({
    path: "exchanges.commands",
    fallback: true,
    about: "Whether inboxes of exchanges may run commands, in the same jail as commands of bash.",
  }),
  exchangesMaxOpen: integer({
    path: "exchanges.max_open",
    fallback: 1_000,
    min: 1,
    max: 1_000_000,
    about: "Maximum number of active exchanges of one client.",
  }),
  exchangesTimeoutHours: integer({
    path: "exchanges.timeout_hours",
    fallback: 144,
    min: 1,
    max: 87_576,
    about: "Hours after which an active exchange fails; less than `retention.days`, so that its log is complete.",
  }),
} as const satisfies Record<string, Key<unknown>>;

declare module "../../platform/config/keys.ts" {
  interface Config extends ValuesOf<typeof exchangeKeys> {}
}

/** The settings of the exchange protocol. */
export const exchangeSettings: ProtocolSettings = { keys: exchangeKeys };
