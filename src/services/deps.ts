// What the services work with.

import type { Config } from "../config/keys.ts";
import type { Egress } from "../egress/post.ts";
import type { StartExchangeDeps } from "../exchanges/start.ts";
import type { SubmitDeps } from "../jobs/submit.ts";
import type { Models } from "../models/open.ts";
import type { ResultLog } from "../runlog/log.ts";
import type { AssignmentDeps } from "../runners/assignments.ts";
import type { Forwarding } from "../runners/forwarding.ts";
import type { Mailboxes } from "../runners/mailbox.ts";
import type { DayBudget } from "../runs/day-budget.ts";
import type { StartDeps } from "../runs/start.ts";
import type { SessionStreamDeps } from "../sessions/stream.ts";
import type { WorkDirs } from "../sessions/work-dirs.ts";
import type { Events } from "../telemetry/events.ts";
import type { SelectTools } from "../tools/select-tools.ts";
import type { Cursors } from "../trust/cursor.ts";
import type { RateLimit } from "../trust/rate-limit.ts";
import type { RunTokens } from "../trust/run-token.ts";

export interface ServiceDeps
  extends StartDeps,
    StartExchangeDeps,
    SessionStreamDeps,
    AssignmentDeps,
    Pick<SubmitDeps, "trust" | "jobs"> {
  readonly events: Events;
  readonly config: Config;
  readonly log: ResultLog;
  readonly cursors: Cursors;
  /** Of calls of runners, by run. */
  readonly hostRate: RateLimit;
  readonly egress: Egress;
  readonly workDirs: WorkDirs;
  readonly models: Models;
  readonly dayBudget: DayBudget;
  readonly selectTools: SelectTools;
  readonly mailboxes: Mailboxes;
  readonly forwarding: Forwarding;
  readonly runTokens: RunTokens;
  /** Null while this replica serves, else why it does not. */
  readonly whyNotReady: () => string | null;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
  readonly version: string;
}
