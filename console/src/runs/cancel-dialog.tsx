// Asks before the active runs of the list are cancelled.

import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { type CancelRunsRequest, CancelRunsRequestSchema, RunService } from "#gen/runnel/v1/run_service_pb.js";
import { transport } from "../api/transport.ts";
import { eachOfFew } from "../lib/few.ts";
import { formatCount } from "../lib/format.ts";
import { Question } from "../ui/question.tsx";
import { showToast } from "../ui/toasts.tsx";
import { type RunsFilter, toRequest } from "./runs-filter.ts";

const service = createClient(RunService, transport);
// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function CancelDialog({
  active,
  filter,
  onClose,
}: {
  readonly active: readonly Run[];
  readonly filter: RunsFilter;
  readonly onClose: () => void;
}) {
  const request = toCancelRequest(filter);
  const cancel = async (): Promise<void> => {
    let count = active.length;
    if (request === undefined) {
      await eachOfFew(active, ({ runId }) => service.cancelRun({ runId }));
    } else {
      count = (await service.cancelRuns(request)).cancelled;
    }
    showToast({ tone: "good", text: `Asked ${formatCount(count)} ${count === 1 ? "run" : "runs"} to stop.` });
  };
  return (
    <Question title="Cancel active runs" yes="Cancel them" no="Leave them" onYes={cancel} onClose={onClose}>
      <p>
        {request === undefined
          ? `The ${formatCount(active.length)} active runs of this list are cancelled.`
          : `All active runs that match the filter are cancelled: ${formatCount(active.length)} in this list, and those further down.`}
      </p>
      <p className="hint">A running run stops at its next step. What it has written stays in its log.</p>
    </Question>
  );
}

/**
 * Returns the request that cancels exactly the active runs of a filter. Undefined when CancelRuns cannot express the filter, as
 * with one of the active states.
 */
function toCancelRequest(filter: RunsFilter): CancelRunsRequest | undefined {
  const active = [Run_State.QUEUED, Run_State.RUNNING, Run_State.WAITING];
  const hasAllActive = filter.states.length === 0 || active.every((state) => filter.states.includes(state));
  if (!hasAllActive || filter.error !== "" || filter.isByChange) {
    return undefined;
  }
  const { states: _, errorContains: __, ...request } = toRequest(filter);
  return create(CancelRunsRequestSchema, { ...request, all: true });
}
