// A tool call that waits for a person. This program shows it, and asks whether it may run.

import { createInterface } from "node:readline/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Approval_Decision } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";

const transport = createGrpcTransport({ baseUrl: process.env.URL ?? "http://127.0.0.1:8090" });
const sessions = createClient(SessionService, transport);
const approvals = createClient(ApprovalService, transport);

const { sessionId } = await sessions.createSession({
  agent: { name: "careful", tools: { builtin: ["list_dir"], approve: ["list_dir"] } },
});
const { runId } = await sessions.sendMessage({ sessionId, message: "List the files." });

// Another program may decide as well, for instance the console: the first decision counts.
for await (const { results } of createClient(RunService, transport).tailRun({ runId })) {
  for (const { payload } of results) {
    if (payload.case === "approvalRequested") {
      const { approvalId, digest, toolName, parameters } = payload.value;
      const decision = await ask(`May ${toolName} run with ${parameters}? (y/n) `);
      await approvals.decideApproval({ approvalId, digest, decision, decidedBy: process.env.USER ?? "" });
    } else if (payload.case === "messageDelta") {
      process.stdout.write(payload.value.chunk?.content ?? "");
    }
  }
}
process.stdout.write("\n");

async function ask(question: string): Promise<Approval_Decision> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question);
  terminal.close();
  return answer.trim() === "y" ? Approval_Decision.APPROVE : Approval_Decision.REJECT;
}
