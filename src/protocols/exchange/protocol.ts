// The CodingAgent protocol: runs that a person drives by copying an outbox out and pasting an inbox in.

import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { type Protocol, part } from "../../api/protocol.ts";
import { erasedRowsMax } from "../../engine/storage/erase.ts";
import type { Config } from "../../platform/config/keys.ts";
import { createTextExchange } from "./driver/text-exchange.ts";
import { createExecutor } from "./execute/executor.ts";
import { failpoints } from "./failpoints.ts";
import { createExchangeService } from "./handlers/exchange-service.ts";
import { createTextQuestions } from "./handlers/text-questions.ts";
import { writeOutbox } from "./outbox/write-outbox.ts";
import { reasons } from "./reasons.ts";
import { exchangeSettings } from "./settings.ts";
import type { ExchangeLimits } from "./start.ts";
import { createOpenExchange } from "./state.ts";
import { deleteExchanges } from "./storage/exchange.ts";

/** The exchange protocol. */
export const exchange: Protocol = {
  name: "exchange",
  settings: exchangeSettings,
  reasons,
  failpoints,
  services: [ExchangeService],
  examples: {
    exchange_id: "a1b2c3d4",
    task: "Find the failing test and mend it.",
  },
  retention: { deleteOfSessions: (db, sessions) => deleteExchanges(db, { sessions, rowsMax: erasedRowsMax }) },
  open: async ({ config, connections, clock }, { toolbox: { commands } }) => {
    const executor = createExecutor({ commands, mayRun: config.exchangesCommands });
    const openExchange = createOpenExchange(connections.db);
    return {
      drivers: [createTextExchange({ clock, openExchange, executor, writeOutbox })],
      serve: (services) => ({
        questions: createTextQuestions(services.db),
        services: [part(ExchangeService, createExchangeService({ ...services, exchanges: exchangeLimitsOf(config) }))],
      }),
    };
  },
};

const hourMs = 3_600_000;

/**
 * Returns the limits of exchanges. An exchange ends before the retention of its log, which counts from the day on which its run
 * began.
 */
function exchangeLimitsOf({ exchangesMaxOpen, exchangesTimeoutHours, retentionDays }: Config): ExchangeLimits {
  const hours = Math.min(exchangesTimeoutHours, retentionDays * 24 - 1);
  return { openMax: exchangesMaxOpen, timeoutMs: hours * hourMs };
}
