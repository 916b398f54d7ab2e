// Limits of cost: a budget of the run, which the agent has, and one of the client's day, which the service has. A run that uses its budget up
// ends in mid-sentence, and its text so far stays.

import { connect } from "@runnel/client";

const { RUNNEL_URL = "http://127.0.0.1:8090", RUNNEL_API_KEY } = process.env;
const [question = "Count to a thousand.", tokens = "2000"] = process.argv.slice(2);
const runnel = connect(RUNNEL_URL, { apiKey: RUNNEL_API_KEY });

const { sessionId } = await runnel.sessions.createSession({
  // maxTurns limits the responses, maxTokens each of them, budget all of them. A budget of money, costMicroUsd, needs a model whose price
  // is known.
  agent: { name: "thrifty", maxTurns: 8, maxTokens: 1_000, budget: { tokens: BigInt(tokens) } },
});
const { runId } = await runnel.send(sessionId, question);
const { state, code, text, error } = await runnel.follow(runId).finish();
console.log(text);

if (code === "runner.budget_exceeded") {
  console.log(`stopped: ${error}`);
} else if (state !== "completed") {
  console.log(`failed: ${code}: ${error}`);
}

const { run } = await runnel.runs.getRun({ runId });
const { totalTokens = 0n, costMicroUsd, estimated = false } = run?.usage ?? {};
console.log(`${estimated ? "about " : ""}${totalTokens} tokens${costMicroUsd ? `, ${printUsd(costMicroUsd)}` : ""}`);

// The day of this client, over all its runs. A maximum of 0 means that the service has no such budget.
const { tokens: used, tokensMax } = await runnel.system.getUsage({});
console.log(`today: ${used} of ${tokensMax === 0n ? "any number of" : tokensMax} tokens`);
runnel.close();

function printUsd(microUsd: bigint): string {
  return `${(Number(microUsd) / 1_000_000).toFixed(4)} USD`;
}
