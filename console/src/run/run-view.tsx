// One run: what it is, where its time went, what was said, and every entry of its log.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { transport } from "../api/transport.ts";
import { useMedia } from "../lib/media.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { setTitle } from "../lib/title.ts";
import { Failure, Loading } from "../ui/notice.tsx";
import { isActive } from "../ui/state-label.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { showToast } from "../ui/toasts.tsx";
import { EntriesPane } from "./entries-pane.tsx";
import { useRunLog } from "./kept-logs.ts";
import { RunHeader } from "./run-header.tsx";
import { TimelinePane } from "./timeline-pane.tsx";
import { TranscriptPane } from "./transcript-pane.tsx";

const service = createClient(RunService, transport);
/** The log tells most changes; states without an entry, such as queued, show by this. */
const refreshMs = 3_000;
const tabs = { transcript: "Transcript", waterfall: "Waterfall", entries: "Entries" } as const;

type Tab = keyof typeof tabs;

export function RunView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const runId = params.runId ?? "";
  // Another run is another page: nothing of the former stays.
  return <OneRun key={runId} runId={runId} />;
}

function OneRun({ runId }: { readonly runId: string }) {
  const log = useRunLog(runId);
  const { data, error, refetch } = useQuery(
    RunService.method.getRun,
    { runId },
    {
      refetchInterval: (query) => (query.state.data?.run && !isActive(query.state.data.run.state) ? false : refreshMs),
    },
  );
  const input = useQuery(RunService.method.getRunInput, { runId }, { staleTime: Number.POSITIVE_INFINITY });
  const { hasEnded } = log;
  useEffect(() => {
    if (hasEnded) {
      void refetch();
    }
  }, [hasEnded, refetch]);
  const [isCancelling, setCancelling] = useState(false);
  const run = data?.run;
  useEffect(() => {
    setTitle(`Run ${runId.slice(-8)}`);
  }, [runId]);
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
      showToast({ tone: "bad", text: `The run could not be cancelled: ${String(failure)}` });
    } finally {
      setCancelling(false);
    }
  };
  return (
    <div className="view run-view">
      <RunHeader
        run={run}
        log={log}
        agentName={input.data?.agent?.name}
        isCancelling={isCancelling}
        onCancel={() => void cancel()}
      />
      <Panes log={log} run={run} input={input.data} />
    </div>
  );
}

type PaneProps = Parameters<typeof TranscriptPane>[0];

/** Two panes beside each other where there is room, else one at a time. */
function Panes({ log, run, input }: Pick<PaneProps, "log" | "run" | "input">) {
  const [parameters, setParameters] = useSearchParams();
  const isWide = useMedia("(min-width: 1080px)");
  const asked = parameters.get("tab") ?? "transcript";
  const named: Tab = asked in tabs ? (asked as Tab) : "transcript";
  const tab = isWide && named === "waterfall" ? "transcript" : named;
  const sequence = Number(parameters.get("seq") ?? 0) || undefined;
  const change = (next: Readonly<Record<string, string>>): void =>
    setParameters((current) => new URLSearchParams({ ...Object.fromEntries(current), ...next }), { replace: true });
  const show = (next: Tab): void => change({ tab: next });
  useShortcuts({ t: () => show("transcript"), e: () => show("entries"), w: () => show("waterfall") });
  const select = (next: number): void =>
    change({ seq: String(next), ...(named === "waterfall" && { tab: "transcript" }) });
  const timeline = <TimelinePane log={log} run={run} sequence={sequence} onSelect={select} />;
  const offered = (Object.keys(tabs) as Tab[]).filter((each) => !isWide || each !== "waterfall");
  return (
    <div className="panes" data-wide={isWide || undefined}>
      {isWide && (
        <section className="pane" aria-label="Waterfall">
          {timeline}
        </section>
      )}
      <section className="pane" aria-label={tabs[tab]}>
        <Tabs id="tab" label="What to show" titles={tabs} offered={offered} shown={tab} onShow={show} />
        <div className="tab-panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
          {tab === "transcript" && <TranscriptPane log={log} run={run} input={input} sequence={sequence} />}
          {tab === "waterfall" && timeline}
          {tab === "entries" && (
            <EntriesPane log={log} sequence={sequence} onSelect={(next) => change({ seq: String(next) })} />
          )}
        </div>
      </section>
    </div>
  );
}
