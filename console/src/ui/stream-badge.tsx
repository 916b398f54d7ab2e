// What the stream of a view is doing, in words that a person can rely on.

import { useNow } from "../lib/clock.ts";
import { formatCount } from "../lib/format.ts";
import type { StreamPhase } from "../lib/stream.ts";

/** Shows the phase of a stream. `at` is the sequence of the last entry, for streams with one. */
export function StreamBadge({
  phase,
  at,
  resumed = 0,
  onRetry,
}: {
  readonly phase: StreamPhase;
  readonly at?: number;
  readonly resumed?: number;
  readonly onRetry?: () => void;
}) {
  const nowMs = useNow(phase.name === "reconnecting");
  return (
    <span className="badge" data-phase={phase.name}>
      <span className="dot" />
      {/* Without numbers, which would be read aloud with every entry. */}
      <span className="unseen" role="status">
        {spoken[phase.name]}
      </span>
      <span className="badge-text">{textOf(phase, at, nowMs)}</span>
      {resumed > 0 && (
        <span
          className="badge-detail"
          title="How often this page has opened the stream again, each time after its last entry"
        >
          resumed {resumed}×
        </span>
      )}
      {phase.name === "reconnecting" && onRetry !== undefined && (
        <button type="button" className="link" onClick={onRetry}>
          now
        </button>
      )}
    </span>
  );
}

const spoken: Readonly<Record<StreamPhase["name"], string>> = {
  connecting: "",
  "catching-up": "stream: catching up",
  live: "stream: live",
  waiting: "stream: live",
  paused: "stream: paused",
  ended: "stream: complete",
  reconnecting: "stream: reconnecting, nothing is lost",
  refused: "stream: stopped",
};

function textOf(phase: StreamPhase, at: number | undefined, nowMs: number): string {
  const place = at === undefined ? "" : ` · at ${formatCount(at)}`;
  switch (phase.name) {
    case "connecting":
      return "connecting";
    case "catching-up":
      return `catching up${place}`;
    case "live":
      return `live${place}`;
    case "waiting":
      return `waits for another tab${place}`;
    case "paused":
      return `paused${place}`;
    case "ended":
      return `ended, complete${place}`;
    case "reconnecting": {
      const seconds = Math.ceil((phase.retryAtMs - nowMs) / 1_000);
      return `${seconds > 0 ? `reconnecting in ${seconds} s` : "reconnecting"}, nothing is lost`;
    }
    case "refused":
      return `stopped: ${phase.error.rawMessage}`;
    default:
      return phase satisfies never;
  }
}
