// What a run shows: the waterfall, the transcript, the entries, the tree of the run, and its calls of models. Two panes beside each other where there is
// room, else one at a time.

import { lazy, Suspense, useSyncExternalStore } from "react";
import { useLocation, useSearchParams } from "wouter";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import type { GetRunInputResponse } from "#gen/runnel/v1/run_service_pb.js";
import { useMedia } from "../lib/media.ts";
import { isActive } from "../lib/run-state.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { Loading } from "../ui/notice.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { EntriesPane } from "./entries-pane.tsx";
import type { RunLog } from "./run-log.ts";
import { TimelinePane } from "./timeline-pane.tsx";
import { TranscriptPane } from "./transcript-pane.tsx";
import { useHit } from "./use-hit.ts";

/** Few runs are part of a tree. */
const TreePane = lazy(() => import("./tree-pane.tsx"));
/** Few people look at them. */
const CallsPane = lazy(() => import("./calls-pane.tsx"));

const tabs = {
  transcript: "Transcript",
  waterfall: "Waterfall",
  tree: "Tree",
  calls: "Calls",
  entries: "Entries",
} as const;

type Tab = keyof typeof tabs;

function onHash(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

/** Without a run the panes make no call: the reader of a shared run may see its log alone. */
export function Panes({
  log,
  run,
  input,
}: {
  readonly log: RunLog;
  readonly run?: Run;
  readonly input?: GetRunInputResponse | undefined;
}) {
  const [path, navigate] = useLocation();
  const [parameters] = useSearchParams();
  const isWide = useMedia("(min-width: 1080px)");
  const asked = parameters.get("tab") ?? "transcript";
  const named: Tab = asked in tabs ? (asked as Tab) : "transcript";
  const tab =
    (isWide && named === "waterfall") || (run === undefined && (named === "tree" || named === "calls"))
      ? "transcript"
      : named;
  // The reader of a shared run may see no other run.
  const hasTree = run !== undefined && (run.parentRunId !== "" || log.transcript.hasChildren || tab === "tree");
  const hasCalls = run !== undefined && (run.turns > 0 || tab === "calls");
  const { waterfall, tree, calls, ...always } = tabs;
  // A wide page has the waterfall beside the tabs.
  const shownTabs = { ...always, ...(!isWide && { waterfall }), ...(hasTree && { tree }), ...(hasCalls && { calls }) };
  const hash = useSyncExternalStore(onHash, () => location.hash);
  // Without a run, the ticket of a shared one is behind `#`.
  const anchor = run === undefined ? undefined : /^#(\d{1,9})$/.exec(hash)?.[1];
  const sequence = Number(anchor ?? parameters.get("seq") ?? 0) || undefined;
  const { find = "", ...others }: Record<string, string> = Object.fromEntries(parameters);
  const current = { ...others, ...(anchor !== undefined && { seq: anchor }) };
  const addressOf = (next: Readonly<Record<string, string>>): string =>
    `${path}?${new URLSearchParams({ ...current, ...next })}${anchor === undefined ? hash : ""}`;
  const entryAddress = (of: number): string => addressOf({ tab: "entries", seq: String(of) });
  const change = (next: Readonly<Record<string, string>>): void => navigate(addressOf(next), { replace: true });
  const show = (next: Tab): void => change({ tab: next });
  useShortcuts({
    t: () => show("transcript"),
    e: () => show("entries"),
    w: () => show("waterfall"),
    ...(hasTree && { r: () => show("tree") }),
  });
  const select = (next: number): void =>
    change({ seq: String(next), ...(named === "waterfall" && { tab: "transcript" }) });
  useHit(log, sequence === undefined ? find : "", select);
  // Of a run that is not known the log tells whether it goes on, while its stream does.
  const isRunning = run === undefined ? !log.hasEnded && log.phase.name !== "refused" : isActive(run.state);
  const timeline = <TimelinePane log={log} run={run} isRunning={isRunning} sequence={sequence} onSelect={select} />;
  return (
    <div className="panes" data-wide={isWide || undefined}>
      {isWide && (
        <section className="pane" aria-label="Waterfall">
          {timeline}
        </section>
      )}
      <section className="pane" aria-label={tabs[tab]}>
        <Tabs label="What to show" tabs={shownTabs} chosen={tab} onChoose={show} panelClass="tab-panel">
          {tab === "transcript" && (
            <TranscriptPane
              log={log}
              isRunning={isRunning}
              isWaiting={run && run.state === Run_State.WAITING}
              mayDecide={run !== undefined}
              messages={input?.messages ?? []}
              sequence={sequence}
              entryAddress={entryAddress}
            />
          )}
          {tab === "waterfall" && timeline}
          {tab === "tree" && run !== undefined && (
            <Suspense fallback={<Loading what="the tree" />}>
              <TreePane run={run} />
            </Suspense>
          )}
          {tab === "calls" && run !== undefined && (
            <Suspense fallback={<Loading what="the calls" />}>
              <CallsPane runId={run.runId} turns={run.turns} />
            </Suspense>
          )}
          {tab === "entries" && (
            <EntriesPane
              log={log}
              sequence={sequence}
              entryAddress={entryAddress}
              onSelect={(next) => change({ seq: String(next) })}
            />
          )}
        </Tabs>
      </section>
    </div>
  );
}
