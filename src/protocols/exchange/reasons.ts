// The reasons of failure of exchanges.

import { Code } from "@connectrpc/connect";
import { nameReasons } from "../../platform/base/reasons.ts";

/** The reasons of failure of exchanges. */
export const reasons = nameReasons({
  EXCHANGE_NOT_FOUND: {
    code: Code.NotFound,
    about: "The service has no exchange with this id.",
    fix: "Call `runnel exchange resume <session>` where `sessions/` has it.",
  },
  EXCHANGE_EXISTS: {
    code: Code.AlreadyExists,
    about: "The service already has this exchange, or a session with its id.",
    fix: "Continue the exchange that the service has.",
  },
  EXCHANGE_ENDED: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The exchange has ended.",
    fix: "Start another one.",
  },
  INBOX_STALE: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The inbox does not answer the newest outbox.",
    fix: "Answer the newest outbox.",
  },
});
