// The page of a shared link: the log of one run, live, for a reader with a ticket and without a key. The page opens the stream of the
// ticket and asks for nothing else. So it is outside of the frame, which has calls of its own.

import { useEffect, useState } from "react";
import { useLocationProperty } from "wouter/use-browser-location";
import { formatCount, shortId } from "../lib/format.ts";
import { setTitle } from "../lib/title.ts";
import { Panes } from "../run/panes.tsx";
import { RunLog, useLog } from "../run/run-log.ts";
import { EmptyState, Loading } from "../ui/notice.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { readLink, type SharedLink } from "./shared-link.ts";
import { followByTicket } from "./ticket-stream.ts";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function SharedView() {
  const fragment = useLocationProperty(() => location.hash);
  const link = readLink(fragment);
  useEffect(() => setTitle("Shared run"), []);
  return (
    <main className="shared">
      {link === undefined ? <IncompleteLink /> : <SharedRun key={fragment} link={link} />}
      <Toasts />
    </main>
  );
}

function SharedRun({ link: { runId, ticket } }: { readonly link: SharedLink }) {
  const [made] = useState(() => new RunLog(runId, { follow: followByTicket(ticket) }));
  const log = useLog(made);
  const { phase } = log;
  // The panes begin at the end of a log that grows, and at the start of one that is complete: that shows after the stored entries.
  const [hasCaughtUp, setCaughtUp] = useState(false);
  useEffect(() => {
    if (phase.name === "live" || phase.name === "ended") {
      setCaughtUp(true);
    }
  }, [phase]);
  return (
    <div className="view run-view">
      <header className="run-head">
        <div className="view-head">
          <h1>
            <span className="crumb">Shared run</span>
            <span className="mono" title={runId}>
              {shortId(runId)}
            </span>
          </h1>
          <StreamBadge phase={phase} at={log.cursor} resumed={log.resumed} onRetry={() => log.retry()} />
        </div>
        {phase.name === "reconnecting" && <p className="hint">{phase.why} This page tries again by itself.</p>}
        {phase.name === "refused" && <RefusedLink log={log} />}
      </header>
      {hasCaughtUp ? <Panes log={log} /> : phase.name !== "refused" && <Loading what="the run" />}
    </div>
  );
}

function RefusedLink({ log }: { readonly log: RunLog }) {
  return (
    <section className="notice" role="alert">
      <h2>The service does not accept this link</h2>
      <p>
        A link has to be opened within 60 seconds, and works for a quarter of an hour. Ask the person who sent it to
        share the run again.
      </p>
      {log.cursor > 0 && (
        <p>This page keeps the {formatCount(log.cursor)} entries that it has. The run may have more.</p>
      )}
      <p className="hint">
        Browsers hide the reason of a refusal. If the link is new, the service may be starting: try again.
      </p>
      <button type="button" className="button" onClick={() => log.retry()}>
        Try again
      </button>
    </section>
  );
}

function IncompleteLink() {
  return (
    <EmptyState title="This link is incomplete">
      <p>
        The address of a shared run ends with <code>#</code>, the id of the run and a ticket. Ask the person who sent it
        for the whole link.
      </p>
    </EmptyState>
  );
}
