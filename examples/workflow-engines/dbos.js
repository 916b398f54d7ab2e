// An agent as a step of a DBOS workflow. After a crash DBOS runs the step again, and the step follows the same run.

import { DBOS } from "@dbos-inc/dbos-sdk";
import { runAgent } from "./run-agent.js";

const report = DBOS.registerWorkflow(
  async (topic) => {
    const key = DBOS.workflowID ?? "";
    const agent = { name: "researcher", systemPrompt: "Answer with facts and sources." };
    const facts = await DBOS.runStep(() => runAgent({ key: `${key}-facts`, agent, message: `Facts on ${topic}` }), {
      name: "facts",
    });
    return `# ${topic}\n\n${facts}`;
  },
  { name: "report" },
);

const [workflowID, topic] = process.argv.slice(2);
DBOS.setConfig({ name: "reports", systemDatabaseUrl: process.env.DBOS_SYSTEM_DATABASE_URL });
// Recovers the workflows that a dead process has left.
await DBOS.launch();
const handle = await DBOS.startWorkflow(report, { workflowID })(topic);
console.log(await handle.getResult());
await DBOS.shutdown();
process.exit();
