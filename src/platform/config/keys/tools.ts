// Settings of the agents' tools: `tools`.

import type { Key } from "../key.ts";
import { choice, integer } from "../kinds.ts";

/** The settings of tools. */
export const toolKeys = {
  toolsJail: choice({
    path: "tools.jail",
    words: ["required", "off"],
    fallback: "required",
    about:
      "With `required` commands of bash run in a jail or not at all; with `off` they may do all that the service may.",
  }),
  toolsDenyList: choice({
    path: "tools.deny_list",
    words: ["documented", "strict"],
    fallback: "documented",
    about:
      "Which commands of bash are refused before they run; `strict` also refuses interpreters and what hides commands.",
  }),
  toolsDiskMb: integer({
    path: "tools.disk_mb",
    fallback: 1_024,
    min: 1,
    max: 1_048_576,
    about: "Mebibytes by which commands of bash may make a work directory grow.",
  }),
} as const satisfies Record<string, Key<unknown>>;
