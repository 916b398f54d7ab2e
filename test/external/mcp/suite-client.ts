// The client that the conformance suite of MCP starts for each of its servers: `node suite-client.ts <service> <server>`. An agent of the
// service has the server, and a fake model calls its tools as the message says. The suite names the scenario in the environment.

import { connect } from "../../../clients/typescript/src/index.ts";
import { Approval_Decision } from "../../../gen/runnel/v1/approval_pb.js";

interface Call {
  readonly name: string;
  readonly arguments: object;
}

const [, , service = "", server = ""] = process.argv;
const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;

const callAll = (...names: readonly string[]): readonly Call[] => names.map((name) => ({ name, arguments: {} }));

/** What the model calls. The other scenarios want a list of the tools. */
const calls: Readonly<Record<string, readonly Call[]>> = {
  tools_call: [{ name: "add_numbers", arguments: { a: 5, b: 3 } }],
  "sse-retry": callAll("test_reconnection"),
  "elicitation-sep1034-client-defaults": callAll("test_client_elicitation_defaults"),
  "sep-2322-client-request-state": callAll(
    ...["test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"],
  ),
  "http-standard-headers": callAll("test_headers", "my-hyphenated-tool"),
  "http-custom-headers": withoutNulls(JSON.parse(context).toolCalls),
  "http-invalid-tool-headers": [
    { name: "valid_tool", arguments: { region: "us" } },
    ...callAll("invalid_empty_header", "invalid_number_header", "invalid_duplicate_diff_case"),
  ],
  "json-schema-ref-no-deref": [{ name: "lookup_user", arguments: { id: "u1" } }],
};

/** Makes the calls with a null again without it: the service refuses a null where the tool's schema has another type. */
function withoutNulls(given: readonly Call[] = []): readonly Call[] {
  const again = given.filter((call) => Object.values(call.arguments).includes(null));
  const filled = ({ arguments: all }: Call) => Object.entries(all).filter(([, value]) => value !== null);
  return [...given, ...again.map((call) => ({ ...call, arguments: Object.fromEntries(filled(call)) }))];
}

const client = connect(service);
const agent = { name: "tester", tools: { mcp: [{ name: "srv", url: server, idleSec: 5, forms: true }] } };
const { sessionId } = await client.sessions.createSession({ agent });
const messages = calls[scenario]?.map(
  ({ name, arguments: given }) => `n=1 tools=1 tool=srv_${name} args=${JSON.stringify(given)}`,
);
for (const message of messages ?? ["n=1"]) {
  const { runId } = await client.send(sessionId, message);
  const run = client.follow(runId);
  for await (const { payload } of run) {
    if (payload.case === "approvalRequested") {
      // A person who sends the form as it is.
      const { approvalId, digest } = payload.value;
      await client.approvals.decideApproval({ approvalId, digest, decision: Approval_Decision.APPROVE });
    }
    if (payload.case === "toolCallCompleted") {
      process.stdout.write(`${message}: ${payload.value.result || payload.value.error}\n`);
    }
  }
  const { state, error } = await run.finish();
  process.stdout.write(`${message}: ${state} ${error}\n`);
  process.exitCode = state === "completed" ? 0 : 1;
}
client.close();
