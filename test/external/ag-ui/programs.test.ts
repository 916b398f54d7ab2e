// Programs for AG-UI, in Python and Node, unmodified, feature by feature; and the table of the page that says what works.

import { join } from "node:path";
import { test } from "vitest";
import { checkTable, tableMaxMs } from "../openai/clients/table.ts";
import { findPython, openaiClientsPython, programs } from "../programs.ts";

const folder = import.meta.dirname;

/** The model of an agent makes its runs slow, or fail. */
const agents = {
  default: {},
  stateful: { tools: { builtin: ["set_state"] } },
  careful: { tools: { builtin: ["set_state"], approve: ["set_state"] } },
  slow: { model: "gpt-4o-mini-slow-@copilotkit/core" },
  bad: { model: "gpt-4o-mini-fail-bad" },
  quota: { model: "gpt-4o-mini-fail-quota" },
  context: { model: "gpt-4o-mini-fail-context" },
};

test.skipIf(!programs["openai-clients"].isHere() || !programs.python.isHere())(
  "every program works, and the page shows it; WRITE_TABLE=1 writes the table",
  async () => {
    const pythons = [
      [openaiClientsPython, join(folder, "programs.py")],
      [findPython() ?? "", join(folder, "protocol.py")],
    ] as const;
    const all = { pythons, node: join(folder, "programs.mjs"), packages: join(folder, "packages"), path: "/v1/ag-ui" };
    const agentPresets = Object.entries(agents).map(([name, agent]) => `${name}=${JSON.stringify(agent)}`);
    await checkTable(all, "ag-ui.md", { agentPresets });
  },
  tableMaxMs,
);
