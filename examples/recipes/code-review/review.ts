// A review of the files of a folder. The agent reads them by itself; each change that it wants to make waits for you. The name of the review
// is the name of its run: started again, the program goes on where it was.

import { createInterface } from "node:readline/promises";
import { connect, RunnelError } from "@runnel/client";
import { Approval_Decision, Approval_State } from "@runnel/client/gen/runnel/v1/approval_pb";
import type { ApprovalRequested } from "@runnel/client/gen/runnel/v1/result_pb";

const [workDir, review = "review"] = process.argv.slice(2);
if (workDir === undefined) {
  throw new Error("usage: node review.ts <folder> [name of the review]");
}
const { RUNNEL_URL = "http://127.0.0.1:8090", RUNNEL_API_KEY, USER = "reviewer" } = process.env;
const runnel = connect(RUNNEL_URL, { apiKey: RUNNEL_API_KEY });

const agent = {
  name: "reviewer",
  systemPrompt: "You review code. Read the files, correct real mistakes with edit_file, then say what you found.",
  tools: { builtin: ["list_dir", "read_file", "edit_file"], approve: ["edit_file"], approvalSeconds: 86_400 },
};
await runnel.sessions.createSession({ sessionId: review, workDir, agent }).catch((error: unknown) => {
  if (!(error instanceof RunnelError && error.reason === "SESSION_EXISTS")) {
    throw error;
  }
});
const { runId } = await runnel.send(review, "Review the code.", { requestId: review });

const run = runnel.follow(runId);
for await (const { payload } of run) {
  if (payload.case === "toolCallStarted") {
    console.log(`${payload.value.toolName} ${payload.value.parameters}`);
  } else if (payload.case === "approvalRequested") {
    await decide(payload.value);
  }
}
const { state, output, error } = await run.finish();
console.log(state === "completed" ? output : `the review ${state}: ${error}`);
runnel.close();

/** Asks for a decision, unless the log shows a request that was decided before. */
async function decide({ approvalId, digest, parameters }: ApprovalRequested): Promise<void> {
  const { approval } = await runnel.approvals.getApproval({ approvalId });
  if (approval?.state !== Approval_State.PENDING) {
    return;
  }
  const { file_path: file, old_string: old, new_string: text } = JSON.parse(parameters);
  console.log(`\n${file}\n${prefix("-", old)}\n${prefix("+", text)}`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const isWanted = (await terminal.question("Change it? (y/n) ")).trim() === "y";
  terminal.close();
  const decision = isWanted ? Approval_Decision.APPROVE : Approval_Decision.REJECT;
  await runnel.approvals.decideApproval({ approvalId, digest, decision, decidedBy: USER });
}

function prefix(mark: string, text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark} ${line}`)
    .join("\n");
}
