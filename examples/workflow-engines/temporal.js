// An agent as an activity of Temporal. Its heartbeats say how far the run has got. A worker that dies loses nothing: the next attempt of the
// activity has the same key, and follows the same run.

import { Context } from "@temporalio/activity";
import { runAgent } from "./run-agent.js";

/** The activity. Give it a heartbeat timeout, so that Temporal notices a dead worker and delivers a cancel. */
export async function research(question) {
  const { info, cancellationSignal } = Context.current();
  const { workflowId, runId } = info.workflowExecution;
  return await runAgent({
    key: [workflowId, runId, info.activityId].join("-"),
    agent: { name: "researcher", systemPrompt: "Answer with facts and sources." },
    message: question,
    signal: cancellationSignal,
    progress: (place) => Context.current().heartbeat(place),
  });
}
