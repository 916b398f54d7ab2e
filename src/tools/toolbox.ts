// What runs get their tools from.

import type { SelectTools } from "./select-tools.ts";

export interface Toolbox {
  readonly select: SelectTools;
  /** How commands run here, in a few words for people. */
  readonly bash: string;
}
