// A run of an agent as one step of a workflow. The step may be repeated: with the same key it never starts a second run.

import { createHash } from "node:crypto";
import { connect } from "@runnel/client";

const runnel = connect(process.env.RUNNEL_URL ?? "http://127.0.0.1:8090", { apiKey: process.env.RUNNEL_API_KEY });

/**
 * Runs an agent and returns its text. `key` names the step, and is the same for each attempt. `signal` cancels the run. `progress` gets
 * the id of the run and the sequence of each result.
 */
export async function runAgent({ key, agent, message, signal, progress = () => {} }) {
  // A repeated call with this id gets the answer of the first one.
  const requestId = createHash("sha256").update(key).digest("hex");
  const { sessionId } = await runnel.sessions.createSession({ requestId, agent });
  const { runId } = await runnel.send(sessionId, message, { requestId });
  const stop = () => void runnel.runs.cancelRun({ runId }).catch(() => {});
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) {
    stop();
  }
  try {
    const run = runnel.follow(runId);
    for await (const { sequence } of run) {
      progress({ runId, sequence: Number(sequence) });
    }
    const { state, text, code, error } = await run.finish();
    if (state !== "completed") {
      throw new Error(`run ${runId} ended with ${code}: ${error}`);
    }
    return text;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
