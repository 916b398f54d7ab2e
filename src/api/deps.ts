// What the services work with.

import type { Models } from "../agent/models/open.ts";
import type { SelectTools } from "../agent/tools/select-tools.ts";
import type { ResultLog } from "../engine/log/log.ts";
import type { DayBudget } from "../engine/runs/day-budget.ts";
import type { StartDeps } from "../engine/runs/start.ts";
import type { WorkDirs } from "../engine/sessions/work-dirs.ts";
import type { Cursors } from "../platform/auth/cursor.ts";
import type { RateLimit } from "../platform/auth/rate-limit.ts";
import type { RunTokens } from "../platform/auth/run-token.ts";
import type { Config } from "../platform/config/keys.ts";
import type { Egress } from "../platform/egress/post.ts";
import type { Events } from "../platform/telemetry/events.ts";
import type { SessionStreamDeps } from "../protocols/agent-runner/stream.ts";
import type { StartExchangeDeps } from "../protocols/exchange/start.ts";
import type { SubmitDeps } from "../protocols/jobspec/jobs/submit.ts";
import type { AssignmentDeps } from "../protocols/langbot/runners/assignments.ts";
import type { Forwarding } from "../protocols/langbot/runners/forwarding.ts";
import type { Mailboxes } from "../protocols/langbot/runners/mailbox.ts";

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
