// What runs get their tools from.

import type { Commands } from "./bash/commands.ts";
import type { SelectTools } from "./select-tools.ts";

export interface Toolbox {
  readonly select: SelectTools;
  /** The same jail and limits as those of the tool bash. */
  readonly commands: Commands;
  /** How commands run here, in a few words for people. */
  readonly bash: string;
}
