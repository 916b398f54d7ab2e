// What runs get their tools from.

import type { HiddenPlace } from "./hidden.ts";
import type { SelectTools } from "./select-tools.ts";

export interface Toolbox {
  readonly select: SelectTools;
  readonly hidden: readonly HiddenPlace[];
  /** How commands run here, in a few words for people. */
  readonly bash: string;
}
