// What exchanges work with.

import type { Toolbox } from "../agent/tools/toolbox.ts";
import type { Config } from "../platform/config/keys.ts";
import type { TextExchangeOptions } from "../protocols/exchange/driver/text-exchange.ts";
import { createExecutor } from "../protocols/exchange/execute/executor.ts";
import { writeOutbox } from "../protocols/exchange/outbox/write-outbox.ts";
import type { ExchangeLimits } from "../protocols/exchange/start.ts";
import { createOpenExchange } from "../protocols/exchange/state.ts";
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
