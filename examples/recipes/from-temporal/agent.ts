// An agent that was a Temporal workflow: a loop over two kinds of activities, a call of the model and calls of tools. Runnel has the loop, so
// that the program keeps the tools alone. What was the id of the workflow names the session and its run.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { connect, RunnelError } from "@runnel/client";

const [workflowId = "refund-1", question = "Refund order 7."] = process.argv.slice(2);
const { RUNNEL_URL = "http://127.0.0.1:8090", RUNNEL_API_KEY, PORT = "8093" } = process.env;
const { PUBLIC_URL = `http://127.0.0.1:${PORT}` } = process.env;
const runnel = connect(RUNNEL_URL, { apiKey: RUNNEL_API_KEY });

// Was: export async function refundOrder(order: number) { … }, an activity. As there, a call may come twice, with the same key.
const activities: Record<string, (args: { order: number }, key: string) => Promise<string>> = {
  refund_order: async ({ order }, key) => `refunded order ${order}, receipt ${key.slice(0, 8)}`,
};

const host = createServer(async (request, response) => {
  const body = (await request.setEncoding("utf8").toArray()).join("");
  if (!isFromRunnel(request, body)) {
    response.writeHead(401).end();
    return;
  }
  const { tool_name: name, arguments: args, session_id: sessionId } = JSON.parse(body);
  const key = createHash("sha256").update(`${sessionId} ${request.headers["idempotency-key"]}`).digest("hex");
  const answer = await run(name, args, key);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}).listen(Number(PORT));

async function run(name: string, args: { order: number }, key: string): Promise<object> {
  try {
    return { success: true, content: await activities[name]?.(args, key) };
  } catch (error) {
    return { success: false, error: String(error) };
  }
}

/** Without credentials, as in `runnel dev`, the service signs nothing. */
function isFromRunnel({ headers }: IncomingMessage, body: string): boolean {
  if (RUNNEL_API_KEY === undefined) {
    return true;
  }
  const timestamp = String(headers["x-timestamp"]);
  const mac = createHmac("sha256", RUNNEL_API_KEY).update(`${timestamp}.${headers["x-nonce"]}.${body}`).digest("hex");
  const [given, expected] = [Buffer.from(String(headers["x-signature"])), Buffer.from(`sha256=${mac}`)];
  const isRecent = Math.abs(Date.now() / 1_000 - Number(timestamp)) < 120;
  return isRecent && given.length === expected.length && timingSafeEqual(given, expected);
}

const remote = [
  {
    name: "refund_order",
    description: "Refunds an order.",
    parameters: JSON.stringify({
      type: "object",
      properties: { order: { type: "integer" } },
      required: ["order"],
    }),
  },
];
// Was: client.workflow.start(agent, { workflowId }), which refuses a second start with the same id.
const agent = { name: "clerk", systemPrompt: "You refund orders.", tools: { remote } };
const session = { sessionId: workflowId, agent, callback: { baseUrl: PUBLIC_URL, timeoutSec: 15 } };
await runnel.sessions.createSession(session).catch((error: unknown) => {
  if (!(error instanceof RunnelError && error.reason === "SESSION_EXISTS")) {
    throw error;
  }
});
const { runId } = await runnel.send(workflowId, question, { requestId: workflowId });
// Was: handle.result(). A program that starts again gets the same run.
const { state, output, error } = await runnel.follow(runId).finish();
console.log(state === "completed" ? output : `${workflowId} ${state}: ${error}`);
host.close();
runnel.close();
