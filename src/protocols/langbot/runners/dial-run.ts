// Calls the runner of a dialled run. A run is dialled once. After a replica was lost or has left, the next one finds this
// recorded, so the work is never done twice.

import { fromBinary } from "@bufbuild/protobuf";
import { AgentRunContextSchema } from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import type { RunAgentResponse } from "#gen/runnel/runner/v1/agent_runner_service_pb.js";
import type { RunTokens } from "../../../platform/auth/run-token.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Egress } from "../../../platform/egress/post.ts";
import { takeDialledRun } from "../storage/remote-run.ts";
import { dialRunner } from "./dialled-runner.ts";
import { type Era, printContext } from "./era.ts";
import { parseRunnerId } from "./runner-id.ts";

/** An open call to a runner. */
export interface RunCall {
  /** The results of the runner, no faster than they are read. */
  readonly results: AsyncIterable<RunAgentResponse>;
  close(): void;
}

/** Dependencies of dialling. */
export interface DialRunDeps {
  readonly db: Db;
  readonly egress: Pick<Egress, "connect">;
  readonly runTokens: RunTokens;
  /** The URL where runners reach this service; empty when it is not configured. */
  readonly hostUrl: string;
}

/**
 * Calls the runner of a run, until the signal aborts. Returns undefined when the run was dialled before. Throws errors that
 * `describeRunnerTrouble` describes.
 */
export type DialRun = (runId: string, signal: AbortSignal) => Promise<RunCall | undefined>;

/** Creates the function that dials runners. */
export function createDialRun({ db, egress, runTokens, hostUrl }: DialRunDeps): DialRun {
  return async (runId, signal) => {
    const run = await takeDialledRun(db, runId);
    if (run === undefined) {
      return undefined;
    }
    const runner = await dialRunner(egress, run, signal);
    const context = fromBinary(AgentRunContextSchema, run.context);
    const request = {
      runnerId: run.runner_id,
      runnerName: parseRunnerId(run.runner_id)?.runner ?? "",
      context,
      contextJson: printContext(context, run.era as Era),
      runToken: runTokens.make({ runId, attempt: run.attempt }),
      hostUrl,
    };
    const timeoutMs = Math.max(1, Math.ceil(run.time_left_ms));
    return { results: runner.client.runAgent(request, { signal, timeoutMs }), close: () => runner.close() };
  };
}
