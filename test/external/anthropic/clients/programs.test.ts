// Programs for Anthropic's API, in Python and Node, unmodified, feature by feature; and the table of the page that says what works.

import { join } from "node:path";
import { test } from "vitest";
import { checkTable, tableMaxMs } from "../../openai/clients/table.ts";
import { programs } from "../../programs.ts";

const folder = import.meta.dirname;

test.skipIf(!programs["openai-clients"].isHere())(
  "every program works, and the page shows it; WRITE_TABLE=1 writes the table",
  async () => {
    const all = { python: join(folder, "programs.py"), node: join(folder, "programs.mjs"), path: "" };
    await checkTable(all, "anthropic.md");
  },
  tableMaxMs,
);
