// The outboxes of exchanges as questions of their runs: other surfaces show them, and take the answers as inboxes.

import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { requireClient } from "../../../platform/auth/caller.ts";
import type { TextQuestions } from "../../../platform/base/text-questions.ts";
import type { Db } from "../../../platform/database/database.ts";
import { driverName } from "../start.ts";
import { findExchange, readOutbox } from "../storage/exchange.ts";

/** Returns the questions of exchanges. */
export function createTextQuestions(db: Db): TextQuestions {
  return {
    driver: driverName,
    read: async (values, id) => {
      const row = await findExchange(db, { client: requireClient(values).client, id });
      const text = row?.status === "waiting" ? await readOutbox(db, row.session) : undefined;
      return text && Buffer.from(text).toString();
    },
    answer: async (call, exchangeId, text) => {
      await call(ExchangeService.method.submitInbox, { exchangeId, text });
    },
  };
}
