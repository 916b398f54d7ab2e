// Programs for OpenAI's API, in Python and Node, unmodified, feature by feature; and the table of the page that says what works.

import { test } from "vitest";
import { programs } from "../../programs.ts";
import { checkTable, programsOf, tableMaxMs } from "./table.ts";

test.skipIf(!programs["openai-clients"].isHere())(
  "every program works, and the page shows it; WRITE_TABLE=1 writes the table",
  () => checkTable(programsOf(import.meta.dirname, "/v1"), "openai.md"),
  tableMaxMs,
);
