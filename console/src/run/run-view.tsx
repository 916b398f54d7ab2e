// One run: what it is, where its time went, what was said, and every entry of its log.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { stateNames } from "../../../src/platform/run-view/state-names.ts";
import { transport } from "../api/transport.ts";
import { failureText } from "../lib/failure-text.ts";
import { shortId } from "../lib/format.ts";
import { isActive } from "../lib/run-state.ts";
import { setTitle } from "../lib/title.ts";
import { visibleText } from "../lib/visible-text.ts";
import { shortOutput } from "../runs/run-changes.ts";
import { Failure, Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { useRunLog } from "./kept-logs.ts";
import { Panes } from "./panes.tsx";
import { RunHeader } from "./run-header.tsx";

const service = createClient(RunService, transport);
/** The log tells most changes; states without an entry, such as queued, show by this. */
const refreshMs = 3_000;

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function RunView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const runId = params.runId ?? "";
  // Another run is another page: nothing of the former stays.
  return <OneRun key={runId} runId={runId} />;
}

function OneRun({ runId }: { readonly runId: string }) {
  const log = useRunLog(runId);
  const { data, error, refetch } = useQuery(
    RunService.method.getRun,
    { runId, ...shortOutput },
    {
      refetchInterval: (query) => (query.state.data?.run && !isActive(query.state.data.run.state) ? false : refreshMs),
    },
  );
  const input = useQuery(RunService.method.getRunInput, { runId }, { staleTime: Number.POSITIVE_INFINITY });
  const run = data?.run;
  const isWorking = run !== undefined && isActive(run.state);
  const isOverdue = log.hasEnded && isWorking;
  useEffect(() => {
    if (isOverdue) {
      void refetch();
    }
  }, [isOverdue, refetch]);
  useEffect(() => {
    if (isWorking) {
      log.limitTexts();
    }
  }, [isWorking, log]);
  const [isCancelling, setCancelling] = useState(false);
  const title = titleOf(runId, run);
  useEffect(() => setTitle(title), [title]);
  if (run === undefined) {
    return error === null ? <Loading what="the run" /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  const cancel = async (): Promise<void> => {
    setCancelling(true);
    try {
      await service.cancelRun({ runId });
      showToast({ tone: "good", text: "Asked the run to stop." });
      await refetch();
    } catch (failure) {
      showToast({ tone: "bad", text: `The run could not be cancelled: ${failureText(failure)}` });
    } finally {
      setCancelling(false);
    }
  };
  return (
    <div className="view run-view">
      <RunHeader run={run} log={log} input={input.data} isCancelling={isCancelling} onCancel={() => void cancel()} />
      <Panes log={log} run={run} input={input.data} />
    </div>
  );
}

/** Tells tabs apart. Example: `editor 5eb1632c, completed`. */
function titleOf(runId: string, run: Run | undefined): string {
  return run === undefined
    ? `Run ${shortId(runId)}`
    : `${visibleText(run.agentName || run.runnerId || run.driver)} ${shortId(runId)}, ${stateNames[run.state] ?? "unknown"}`;
}
