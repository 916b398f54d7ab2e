// The list of all cases, as README.md shows it.

import { groups } from "./case.ts";
import { cases } from "./kit.ts";

/** Returns a table for each group. */
export function listCases(): string {
  return groups
    .map((group) => {
      const rows = cases.filter((each) => each.group === group).map(({ name, says }) => `| \`${name}\` | ${says} |`);
      return `| \`${group}/…\` | what happens |\n|---|---|\n${rows.join("\n")}\n`;
    })
    .join("\n");
}
