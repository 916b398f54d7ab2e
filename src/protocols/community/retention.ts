// Retention of the data of agents that write and decide.

import type { Retention } from "../../engine/storage/retention.ts";
import { deleteExpiredAgentNonces } from "./storage/agent-credential.ts";
import { deleteOldCommunications } from "./storage/communication.ts";
import { deleteCycles } from "./storage/decision-cycle.ts";

/** The retention that the SNS document sets for its log. */
const communicationDaysMax = 14;
/** The interval between deletions of nonces, which every write adds. */
const nonceIntervalMs = 60_000;

/** The retention of communications, nonces and cycles. */
export const retention: Retention = {
  expiring: [
    { name: "communications", days: communicationDaysMax, deleteBatch: deleteOldCommunications },
    { name: "agent nonces", intervalMs: nonceIntervalMs, deleteBatch: deleteExpiredAgentNonces },
  ],
  purgeRuns: deleteCycles,
};
