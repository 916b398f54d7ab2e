// What the service does by itself, and what streams look for while nothing happens: the statements of one pass that finds nothing.

import { modelCallRetention as ofModelCalls } from "../../../../src/agent/model-calls/retention.ts";
import { listApprovalsToWatch } from "../../../../src/engine/storage/approval.ts";
import { deleteSettledCallbacks, takeDueCallbacks } from "../../../../src/engine/storage/callback.ts";
import { deleteIdleCheckpoints } from "../../../../src/engine/storage/checkpoint.ts";
import { listRunsToWatch } from "../../../../src/engine/storage/client-run.ts";
import { deleteUsageBefore, listErasableSessions } from "../../../../src/engine/storage/erase.ts";
import { expireSessions } from "../../../../src/engine/storage/expire.ts";
import { deleteAnswersOlderThan } from "../../../../src/engine/storage/idempotency.ts";
import { queuePendingRuns } from "../../../../src/engine/storage/pending-run.ts";
import { takeExpiredReplica } from "../../../../src/engine/storage/replica.ts";
import type { Retention } from "../../../../src/engine/storage/retention.ts";
import {
  findEndedRuns,
  listCancelRequests,
  lockOrphanedRuns,
  lockOverdueRuns,
  oldestUnleasedMs,
  wakeDueRuns,
} from "../../../../src/engine/storage/run.ts";
import { claimRuns } from "../../../../src/engine/storage/run-claim.ts";
import { createFindDue, isDueFor } from "../../../../src/engine/storage/run-due.ts";
import { readResultsOfRuns } from "../../../../src/engine/storage/run-result.ts";
import { listEndedRuns, listNewRuns } from "../../../../src/engine/storage/run-text.ts";
import { listTreeChecks } from "../../../../src/engine/storage/run-tree.ts";
import { listDueSchedules } from "../../../../src/engine/storage/schedule.ts";
import { deleteIdleToolCalls } from "../../../../src/engine/storage/tool-call.ts";
import { deleteUsageSums, foldEndedRuns } from "../../../../src/engine/storage/usage-sum.ts";
import { listEndedKeys } from "../../../../src/platform/auth/storage/api-key.ts";
import { deleteNoncesOlderThan } from "../../../../src/platform/auth/storage/nonce.ts";
import { deleteTicketsOlderThan } from "../../../../src/platform/auth/storage/stream-ticket.ts";
import { lowestUuid, newUuid } from "../../../../src/platform/base/ids.ts";
import type { Db } from "../../../../src/platform/database/database.ts";
import {
  countUnpartitionedResults,
  createPartitions,
  deleteUnpartitionedBefore,
  dropPartitionsBefore,
} from "../../../../src/platform/database/partition.ts";
import { retention as ofCommunity } from "../../../../src/protocols/community/retention.ts";
import { listDueAgents } from "../../../../src/protocols/community/storage/decision-cycle.ts";
import { retention as ofJobs } from "../../../../src/protocols/jobspec/retention.ts";
import { retention as ofRunners } from "../../../../src/protocols/langbot/retention.ts";
import { listForwardedReports } from "../../../../src/protocols/langbot/storage/forwarded-report.ts";
import { listCancelledOf, offerRuns } from "../../../../src/protocols/langbot/storage/offer.ts";
import { benchClient } from "../../harness/credentials.ts";

/** A name, and the statements. */
export type Pass = readonly [name: string, work: (db: Db) => Promise<unknown>];

const client = `key/${benchClient}`;
const dayMs = 86_400_000;
const nobody = newUuid(0);
/** Older than all rows. */
const keptMs = 365 * dayMs;
const old = { createdBefore: lowestUuid(Date.now() - keptMs), limit: 500 };
const anHour = { endedMs: dayMs / 24, createdBefore: lowestUuid(Date.now() - dayMs / 24), limit: 500 };

export const passes: readonly Pass[] = [
  ["the look for due work of all kinds", (db) => createFindDue(db, { marginMs: 30_000 })()],
  ["a replica's look for runs", (db) => isDueFor(db, { owner: nobody, except: [], startedBeforeMs: 0 })],
  ["a claim of runs", (db) => claimRuns(db, { owner: nobody, limit: 10 })],
  ["a replica's look for cancels", (db) => listCancelRequests(db, nobody)],
  ["waking runs whose time has come", wakeDueRuns],
  ["queueing pending runs", (db) => queuePendingRuns(db, 100)],
  ["checks of trees", (db) => listTreeChecks(db, { after: 0, limit: 100 })],
  ["expired replicas", (db) => db.transaction().execute((trx) => takeExpiredReplica(trx, ""))],
  ["runs without a replica", (db) => db.transaction().execute((trx) => lockOrphanedRuns(trx, 100))],
  ["overdue runs", (db) => db.transaction().execute((trx) => lockOverdueRuns(trx, { marginMs: 0, limit: 100 }))],
  ["the gauge of waiting runs", oldestUnleasedMs],
  ["due callbacks", (db) => takeDueCallbacks(db, { limit: 32, limitPerClient: 16, exceptClients: [], holdMs: 20_000 })],
  ["due schedules", (db) => listDueSchedules(db, 50)],
  ["texts for search", (db) => Promise.all([listEndedRuns(db, 50), listNewRuns(db, { after: undefined, limit: 50 })])],
  ["revoked keys of open streams", (db) => listEndedKeys(db, [nobody])],
  [
    "new results for readers here",
    (db) => readResultsOfRuns(db, { cursors: [{ runId: nobody, after: 0 }], limitPerRun: 500 }),
  ],
  ["ended runs of readers here", (db) => findEndedRuns(db, [nobody])],
  [
    "a watch of runs",
    (db) => listRunsToWatch(db, { client, sessionName: undefined, endedSince: new Date(), limit: 1_000 }),
  ],
  [
    "a watch of approvals",
    (db) => listApprovalsToWatch(db, { client, runId: undefined, settledSince: new Date(), limit: 1_000 }),
  ],
  [
    "a worker's look for offers",
    async (db) => {
      const runs = { sessionMax: 10, runnerMax: 10, limit: 10, offerMs: 10_000 };
      await offerRuns(db, { client, session: nobody, runnerIds: ["a/b/c"], ...runs });
      await listCancelledOf(db, nobody);
    },
  ],
  ["reports from other replicas", (db) => listForwardedReports(db, [nobody])],
  ["due decision cycles", (db) => listDueAgents(db, { agentIds: ["a"], intervalMs: 60_000 })],

  ["sweep of sessions", (db) => db.transaction().execute((trx) => expireSessions(trx, { ageMs: keptMs, limit: 500 }))],
  ["sweep of deleted sessions", (db) => listErasableSessions(db, { keptMs, limit: 100 })],
  [
    "sweep of logs",
    async (db) => {
      await dropPartitionsBefore(db, Date.now() - keptMs);
      await deleteUnpartitionedBefore(db, { beforeMs: Date.now() - keptMs, limit: 500 });
      await countUnpartitionedResults(db);
      await createPartitions(db, { nowMs: Date.now(), daysAhead: 7 });
    },
  ],
  ["sweep of answers to retries", (db) => deleteAnswersOlderThan(db, dayMs)],
  ["sweep of nonces", (db) => deleteNoncesOlderThan(db, dayMs)],
  ["sweep of tickets", (db) => deleteTicketsOlderThan(db, dayMs)],
  ["sweep of budgets", (db) => deleteUsageBefore(db, 90)],
  ["sweep of tool calls", (db) => deleteIdleToolCalls(db, anHour)],
  ["sweep of checkpoints", (db) => deleteIdleCheckpoints(db, anHour)],
  ["sweep of callbacks", (db) => deleteSettledCallbacks(db, { keptMs, limit: 500 })],
  ["fold of usage", foldEndedRuns],
  ["sweep of usage", deleteUsageSums],
  ...[ofModelCalls, ofRunners, ofJobs, ofCommunity].flatMap(sweepsOf),
];

function sweepsOf({ expiring = [] }: Retention): Pass[] {
  return expiring.map(({ name, days = 0, deleteBatch }): Pass => {
    const createdBefore = lowestUuid(Date.now() - (days === "logs" ? keptMs : days * dayMs));
    return [`sweep of ${name}`, (db) => deleteBatch(db, { ...old, createdBefore })];
  });
}
