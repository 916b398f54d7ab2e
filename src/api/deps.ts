// The dependencies of the handlers.

import type { ResolveSubagent } from "../agent/loop/child-runs.ts";
import type { SelectTools } from "../agent/tools/select-tools.ts";
import type { Driver } from "../engine/runs/driver.ts";
import type { StartDeps } from "../engine/runs/start.ts";
import type { Retention } from "../engine/storage/retention.ts";
import type { Cursors } from "../platform/auth/cursor.ts";
import type { ExplainedKey } from "../platform/config/explain.ts";
import type { Config } from "../platform/config/keys.ts";
import type { Egress } from "../platform/egress/post.ts";
import type { Events } from "../platform/telemetry/events.ts";
import type { Core } from "./core.ts";
import type { OpenWatches } from "./open-watches.ts";
import type { OfferedRunner } from "./runners.ts";

/** The dependencies that all handlers share, those of protocols included. */
export interface ServiceDeps extends StartDeps, Omit<Core, "ownAddress"> {
  readonly events: Events;
  readonly config: Config;
  /** The settings as the operator may see them, and the values that no text may contain. */
  readonly explainedSettings: readonly ExplainedKey[];
  readonly settingSecrets: readonly string[];
  readonly cursors: Cursors;
  readonly watches: OpenWatches;
  readonly egress: Egress;
  readonly selectTools: SelectTools;
  /** The runners that agents may name. */
  readonly runners: readonly OfferedRunner[];
  readonly resolveSubagent: ResolveSubagent;
  readonly retention: readonly Retention[];
  readonly findDriver: (name: string) => Driver | undefined;
  /** Returns null while this replica serves, otherwise the reason why it does not. */
  readonly whyNotReady: () => string | null;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
  readonly version: string;
}
