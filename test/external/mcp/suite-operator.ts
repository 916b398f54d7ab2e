// The client that the conformance suite of MCP starts for a scenario whose credentials an operator gives: `node suite-operator.ts <operator>
// <server>`. It hands the server and its credentials to the operator, a test that starts a service with them, and ends as the run ended.

const [, , operator = "", server = ""] = process.argv;
const { MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;

const answer = await fetch(operator, {
  method: "POST",
  body: JSON.stringify({ server, context: JSON.parse(context) }),
});
const text = await answer.text();
process.stdout.write(`${text}\n`);
process.exitCode = text === "completed" ? 0 : 1;
