// What the forum works with.

import type { Config } from "../config/keys.ts";
import type { GateDeps } from "./gate.ts";

export interface ForumDeps extends GateDeps {
  readonly config: Config;
}
