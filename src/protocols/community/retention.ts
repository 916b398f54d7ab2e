// What is kept of agents that write and decide, and for how long.

import type { Retention } from "../../engine/storage/retention.ts";
import { deleteExpiredAgentNonces } from "./storage/agent-credential.ts";
import { deleteOldCommunications } from "./storage/communication.ts";
import { deleteCycles } from "./storage/decision-cycle.ts";

/** As the SNS document says of its log. */
const communicationDaysMax = 14;
/** Nonces come with every write. */
const nonceIntervalMs = 60_000;

export const retention: Retention = {
  expiring: [
    { name: "communications", days: communicationDaysMax, deleteBatch: deleteOldCommunications },
    { name: "agent nonces", intervalMs: nonceIntervalMs, deleteBatch: deleteExpiredAgentNonces },
  ],
  purgeRuns: deleteCycles,
};
