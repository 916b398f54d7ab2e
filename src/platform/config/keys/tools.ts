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
      "With `required`, commands of bash run in a jail or not at all. With `off`, they can do everything that the service can.",
  }),
  toolsDenyList: choice({
    path: "tools.deny_list",
    words: ["documented", "strict"],
    fallback: "documented",
    about: "List of commands that bash refuses; `strict` also refuses interpreters and constructs that hide commands.",
  }),
  toolsDiskMb: integer({
    path: "tools.disk_mb",
    fallback: 1_024,
    min: 1,
    max: 1_048_576,
    about: "Maximum growth of a work directory by commands of bash, in mebibytes.",
  }),
} as const satisfies Record<string, Key<unknown>>;
