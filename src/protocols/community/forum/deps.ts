// What the forum works with.

import type { Config } from "../../../platform/config/keys.ts";
import type { GateDeps } from "./gate.ts";

export interface ForumDeps extends GateDeps {
  readonly config: Config;
}
