// Opens the log of all runs, and the loops that distribute and maintain it.

import { Broadcaster, followPurges } from "../engine/log/broadcaster.ts";
import { Follower } from "../engine/log/follower.ts";
import { ResultLog } from "../engine/log/log.ts";
import { Maintenance } from "../engine/log/maintain.ts";
import { PostgresWakeup } from "../engine/log/postgres-wakeup.ts";
import type { Wakeup } from "../engine/log/wakeup.ts";
import type { Lease } from "../engine/runs/lease.ts";
import type { WorkDirs } from "../engine/sessions/work-dirs.ts";
import { type AppContext, runTimeoutOf } from "../platform/context.ts";
import { retention } from "./protocols.ts";

/** The parts of the log that other components use. */
export interface Runlog {
  readonly broadcaster: Broadcaster;
  readonly wakeup: Wakeup;
  readonly log: ResultLog;
}

/** Opens the broadcaster, the wake-ups, the log, the follower and the maintenance. */
export async function openLog(
  { config, clock, events, metrics, connections, closers }: AppContext,
  lease: Lease,
  workDirs: WorkDirs,
): Promise<Runlog> {
  const { db } = connections;
  const broadcaster = new Broadcaster({ clock, onShown: (lagMs) => events.resultsShown({ lagMs }) });
  const troubled = (part: string) => (error: unknown) => events.databaseTroubled({ part, error });
  const wakeup = new PostgresWakeup({ connections, clock, onError: troubled("wakeup") });
  closers.defer(() => wakeup.close());
  const log = new ResultLog({
    connections,
    clock,
    broadcaster,
    wakeup,
    pieceWaitMs: config.runsPieceWaitMs,
    renewLease: (replicaId) => lease.renew(replicaId),
    onLeaseLost: (replicaId) => lease.lose(replicaId, "a write was refused"),
    onError: troubled("log"),
    events,
  });
  closers.defer(() => log.close());
  metrics.attach({ countAppended: () => log.countAppended(), isListening: () => wakeup.isListening });
  const follower = new Follower({ db, broadcaster, wakeup, clock, onError: troubled("follower") });
  closers.defer(() => follower.close());
  followPurges(broadcaster, wakeup);
  const maintenance = new Maintenance({
    db,
    clock,
    events,
    wakeup,
    sessionTtlMinutes: config.sessionsTtlMinutes,
    retentionDays: config.retentionDays,
    runTimeoutMs: runTimeoutOf(config),
    retention,
    removeWorkDir: (session) => workDirs.remove(session),
  });
  closers.defer(() => maintenance.close());
  await maintenance.open();
  return { broadcaster, wakeup, log };
}
