// Dependencies of the forum.

import type { Config } from "../../../platform/config/keys.ts";
import type { GateDeps } from "./gate.ts";

/** Dependencies of the forum. */
export interface ForumDeps extends GateDeps {
  readonly config: Config;
}
