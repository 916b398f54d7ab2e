// What exchanges work with.

import type { Config } from "../config/keys.ts";
import type { TextExchangeOptions } from "../drivers/text-exchange/text-exchange.ts";
import { createExecutor } from "../exchanges/execute/executor.ts";
import { writeOutbox } from "../exchanges/outbox/write-outbox.ts";
import type { ExchangeLimits } from "../exchanges/start.ts";
import { createOpenExchange } from "../exchanges/state.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { Ground } from "./ground.ts";

const hourMs = 3_600_000;

export function openExchanges({ config, connections, clock }: Ground, { commands }: Toolbox): TextExchangeOptions {
  const executor = createExecutor({ commands, mayRun: config.exchangesCommands });
  return { clock, openExchange: createOpenExchange(connections.db), executor, writeOutbox };
}

/** An exchange ends before the days of its log do: the log of a run goes by the day on which it began. */
export function exchangeLimitsOf({ exchangesMaxOpen, exchangesTimeoutHours, retentionDays }: Config): ExchangeLimits {
  const hours = Math.min(exchangesTimeoutHours, retentionDays * 24 - 1);
  return { openMax: exchangesMaxOpen, timeoutMs: hours * hourMs };
}
