// `runnel runs watch`: follows a run and all runs that its agents call, a line for each thing that one of them does.

import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { answerJson } from "./answer-json.ts";
import type { Service } from "./connect.ts";
import { exitCodes } from "./exit-codes.ts";
import { follow, patienceMs } from "./follow.ts";
import { leaveOnInterrupt } from "./interrupt.ts";
import type { Output, Paint } from "./output.ts";
import { createResultView } from "./show.ts";
import { joinLines } from "./terminal.ts";

interface Seen {
  readonly cursor: string;
  readonly result: RunResult;
}

/** Follows a tree to its end. The end of the run at the top decides the exit code. */
export async function watchTree({ client }: Pick<Service, "client">, runId: string, output: Output): Promise<void> {
  const runs = client(RunService);
  // This call has no retries: a service that is missing from the start is an error at once.
  const { run } = await runs.getRun({ runId });
  const show = createTreeView(runId, run?.agentName || run?.driver || "");
  leaveOnInterrupt(() => {
    const text = `\ninterrupted; the runs go on: runnel runs watch ${runId}`;
    output.note(text, { note: "interrupted", run_id: runId });
  });
  const results = follow<Seen>({
    open: async function* (last) {
      for await (const { cursor, item } of runs.tailRunTree({ runId, after: last?.cursor ?? "" })) {
        yield item.case === "result" ? [{ cursor, result: item.value }] : [];
      }
    },
    patienceMs,
    onReconnect: (_, why) => output.note(`(${why}: going on)`, { note: "reconnecting", why }),
  });
  for await (const { result } of results) {
    await output.stream(
      () => answerJson(RunResultSchema, result),
      (paint) => show(result, paint),
    );
    if (result.runId === runId && result.payload.case === "runFailed") {
      process.exitCode = exitCodes.followedFailed;
    }
  }
}

/** Creates a view that prints results after the agent of their run. Pieces of text come with their whole message. */
function createTreeView(rootId: string, rootName: string): (result: RunResult, paint: Paint) => string {
  const agents = new Map([[rootId, { name: rootName, depth: 0, view: createResultView({ isBegun: false }) }]]);
  return (result, paint) => {
    const { runId, payload } = result;
    const agent = agents.get(runId);
    if (agent === undefined || payload.case === "messageDelta") {
      return "";
    }
    if (payload.case === "childRunStarted") {
      const { runId: id, toolName: name } = payload.value;
      agents.set(id, { name, depth: agent.depth + 1, view: createResultView({ isBegun: false }) });
    }
    const text = joinLines(agent.view(result).trim());
    return text === "" ? "" : `${"  ".repeat(agent.depth)}${paint("bold", agent.name)} ${text}\n`;
  };
}
