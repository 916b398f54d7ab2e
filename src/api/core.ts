// The parts of the engine and the agent loop that the service opens once.

import type { DayBudget } from "../agent/budget/day-budget.ts";
import type { Models } from "../agent/models/open.ts";
import type { Toolbox } from "../agent/tools/toolbox.ts";
import type { Broadcaster } from "../engine/log/broadcaster.ts";
import type { ResultLog } from "../engine/log/log.ts";
import type { Wakeup } from "../engine/log/wakeup.ts";
import type { WorkDirs } from "../engine/sessions/work-dirs.ts";
import type { RunTokens } from "../platform/auth/run-token.ts";

/** The parts of the engine and the agent loop that protocols may use. */
export interface Core {
  readonly broadcaster: Broadcaster;
  readonly wakeup: Wakeup;
  readonly log: ResultLog;
  readonly models: Models;
  readonly toolbox: Toolbox;
  /** Limits the usage of a client in a day. */
  readonly dayBudget: DayBudget;
  /** Makes the credentials with which runs call this service. */
  readonly runTokens: RunTokens;
  readonly workDirs: WorkDirs;
  /** Resolves to the address when this process listens. */
  readonly ownAddress: Promise<OwnAddress>;
}

/** The address on which this process listens. */
export interface OwnAddress {
  readonly host: string;
  readonly port: number;
}
