// Programs for Anthropic's API, in Python and Node, unmodified, feature by feature; and the table of the page that says what works.

import { test } from "vitest";
import { checkTable, programsOf, tableMaxMs } from "../../openai/clients/table.ts";
import { programs } from "../../programs.ts";

test.skipIf(!programs["openai-clients"].isHere())(
  "every program works, and the page shows it; WRITE_TABLE=1 writes the table",
  () => checkTable(programsOf(import.meta.dirname, ""), "anthropic.md"),
  tableMaxMs,
);
