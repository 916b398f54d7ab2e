// One row of a transcript: a message, a tool call or an event of a log.

import { lazy, memo, type ReactNode, Suspense } from "react";
import { Link } from "wouter";
import type { ApprovalRequested, SkillsListed } from "#gen/runnel/v1/result_pb.js";
import type { Row } from "../../../src/platform/run-view/row.ts";
import { formatBytes, formatCount, formatDuration, formatTime, msOf } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { JsonBlock } from "../ui/code-block.tsx";
import { Icon } from "../ui/icon.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { Loading } from "../ui/notice.tsx";
import { ToolCall } from "./tool-call.tsx";

/** Enough to find text that is void. */
const voidCharsMax = 100_000;
/** Most runs make no file, and cite no source. */
const Attachment = lazy(async () => ({ default: (await import("../ui/attachment.tsx")).Attachment }));
const Sources = lazy(async () => ({ default: (await import("./sources.tsx")).Sources }));
/** Most runs ask for nothing. */
const OneApproval = lazy(async () => ({ default: (await import("../approvals/decision.tsx")).OneApproval }));

/** Renders again only with a new version: the row itself is one object for its life. */
export const TranscriptRow = memo(function TranscriptRow({
  row,
  href,
  isRunning,
  mayDecide,
  isChosen,
  isParked,
}: {
  readonly row: Row;
  readonly version: number;
  readonly href: string;
  /** False while the log of a run that has ended is read: its texts are not live. */
  readonly isRunning: boolean;
  readonly mayDecide: boolean;
  readonly isChosen: boolean;
  readonly isParked: boolean;
}) {
  return (
    <article
      className="row"
      data-kind={row.content.kind}
      data-void={row.isVoid || undefined}
      data-chosen={isChosen || undefined}
    >
      {row.isVoid && <span className="unseen">Void, written again on another replica: </span>}
      <Content row={row} isRunning={isRunning} mayDecide={mayDecide} isParked={isParked} />
      <Link href={href} className="sequence mono" title={`entry ${row.sequence} · ${formatTime(row.timeMs)}`}>
        #{row.sequence}
      </Link>
    </article>
  );
});

/** A call without an outcome. */
export function isOpenCall({ content }: Row): boolean {
  return content.kind === "tool" && content.result === undefined && content.error === undefined;
}

function Content({
  row,
  isRunning,
  mayDecide,
  isParked,
}: {
  readonly row: Row;
  readonly isRunning: boolean;
  readonly mayDecide: boolean;
  readonly isParked: boolean;
}) {
  const { content } = row;
  switch (content.kind) {
    case "message":
      return (
        <Said who={content.role}>
          {row.isVoid ? (
            <del>{visibleText(content.text.slice(0, voidCharsMax))}</del>
          ) : (
            <>
              {content.charsDropped > 0 && !(content.isLive && isRunning) && (
                <p className="hint">
                  The {formatCount(content.charsDropped)} characters before are among the entries from #{row.sequence}.
                </p>
              )}
              <Markdown text={content.text} isLive={content.isLive && isRunning} />
            </>
          )}
        </Said>
      );
    case "sources":
      return (
        <Event tone="calm" title="Sources">
          <Suspense fallback={<Loading what="the sources" />}>
            <Sources citations={content.citations} />
          </Suspense>
        </Event>
      );
    case "reasoning":
      return (
        <details className="fold" open={content.isLive}>
          <summary>
            <Icon name="chevron" />
            Reasoning
          </summary>
          <div className="reasoning">
            {row.isVoid ? (
              <del>{visibleText(content.text.slice(0, voidCharsMax))}</del>
            ) : (
              <Markdown text={content.text} />
            )}
          </div>
        </details>
      );
    case "tool":
      return (
        <ToolCall
          startMs={row.timeMs}
          content={content}
          withoutResult={isParked ? "waiting" : isRunning ? "running" : "no result"}
        />
      );
    case "turn":
      return <p className="divider">turn {content.turn}</p>;
    case "restart":
      return (
        <Event tone="warn" title="Restarted on another replica">
          The replica that wrote turn {content.turn} was lost. Everything from #{content.fromSequence} to here is void,
          and the turn begins again.
        </Event>
      );
    case "waiting": {
      const wakeMs = msOf(content.value.wakeTime);
      return (
        <Event tone="warn" title={`Waiting: ${content.value.reason}`}>
          {wakeMs === undefined
            ? "It continues when it is woken."
            : `It continues at ${formatTime(wakeMs)} at the latest.`}
        </Event>
      );
    }
    case "approval":
      return (
        <Event tone="warn" title={titleOfAsked(content.value)}>
          {visibleText(content.value.reason)}
          {content.value.approvalId === "" || !mayDecide ? (
            <JsonBlock label="arguments" json={content.value.parameters} />
          ) : (
            <Suspense fallback={<Loading what="the approval" />}>
              <OneApproval approvalId={content.value.approvalId} />
            </Suspense>
          )}
        </Event>
      );
    case "artifact": {
      const { name, artifactType, mimeType, sizeBytes, contentBase64 } = content.value;
      const facts = [mimeType, sizeBytes === undefined ? undefined : formatBytes(Number(sizeBytes))];
      return (
        <Event tone="calm" title={`Artifact: ${visibleText(name ?? artifactType)}`}>
          {visibleText(facts.filter((fact) => fact !== undefined).join(" · "))}
          {contentBase64 !== undefined && (
            <Suspense fallback={<Loading what="the file" />}>
              <Attachment base64={contentBase64} name={name ?? ""} isImage={artifactType === "image"} />
            </Suspense>
          )}
        </Event>
      );
    }
    case "state":
      return (
        <Event tone="calm" title={`State: ${visibleText(content.value.key)}`}>
          <JsonBlock label="value" json={content.value.value} />
        </Event>
      );
    case "handoff":
      return (
        <Event tone="calm" title={`Handed over to ${visibleText(content.value.toAgent)}`}>
          {visibleText(content.value.model)}
        </Event>
      );
    case "summary":
      return (
        <Event tone="calm" title={`${content.value.messages} messages are now a summary`}>
          <Markdown text={content.value.summary} />
        </Event>
      );
    case "skills":
      return <Skills listed={content.value} />;
    case "action":
      return (
        <Event tone="calm" title={`Action: ${visibleText(content.value.action)}`}>
          <JsonBlock label="payload" json={content.value.payload ?? "{}"} />
        </Event>
      );
    case "lost":
      return (
        <Event tone="bad" title="An entry was lost">
          The database lost an entry that this service had acknowledged. Readers that have it keep it.
        </Event>
      );
    case "purged":
      return (
        <Event tone="calm" title={`${content.what}, erased`}>
          <span className="mono">SHA-256 {content.sha256}</span>
        </Event>
      );
    case "extension":
      return (
        <Event tone="calm" title={visibleText(content.type)}>
          <JsonBlock label="payload" json={content.json} />
        </Event>
      );
    case "completed": {
      const { finishReason, turns, durationMs, pendingToolCalls } = content.value;
      return (
        <Event tone="good" title="Completed">
          {visibleText(finishReason)} · {turns} {turns === 1 ? "turn" : "turns"} · {formatDuration(Number(durationMs))}
          {pendingToolCalls.map(({ id, name, arguments: text }) => (
            <JsonBlock key={id} label={`waits for your answer to ${visibleText(name)}`} json={text} />
          ))}
        </Event>
      );
    }
    case "failed":
      return (
        <Event tone={content.value.code === "cancelled" ? "calm" : "bad"} title={visibleText(content.value.code)}>
          {visibleText(content.value.error)}
          {content.value.retryable && " The same request may succeed later."}
        </Event>
      );
    default:
      return content satisfies never;
  }
}

/** The skills as the agent sees them; later entries say which have changed. */
function Skills({ listed: { skills, changed } }: { readonly listed: SkillsListed }) {
  const count = `${skills.length} ${skills.length === 1 ? "skill" : "skills"}`;
  return (
    <Event
      tone={changed.length > 0 ? "warn" : "calm"}
      title={changed.length > 0 ? `Changed since the run began: ${visibleText(changed.join(", "))}` : `Has ${count}`}
    >
      <ul className="skills" aria-label="Skills">
        {skills.map(({ name, description, path, sha256 }) => (
          <li key={name}>
            <b>{visibleText(name)}</b> <span className="mono">{visibleText(path)}</span>
            {sha256 === "" && " (gone)"}
            <p dir="auto">{visibleText(description)}</p>
          </li>
        ))}
      </ul>
    </Event>
  );
}

export function Said({ who, children }: { readonly who: string; readonly children: ReactNode }) {
  return (
    <div className="said" data-who={who}>
      <p className="who">{visibleText(who)}</p>
      {children}
    </div>
  );
}

function Event({
  tone,
  title,
  children,
}: {
  readonly tone: "good" | "warn" | "bad" | "calm";
  readonly title: string;
  readonly children: ReactNode;
}) {
  return (
    <div className="event" data-tone={tone}>
      <p className="event-title">{title}</p>
      <div className="event-text">{children}</div>
    </div>
  );
}

function titleOfAsked({ action, toolName }: ApprovalRequested): string {
  return action === "elicitation/create"
    ? `Values asked by the server of ${visibleText(toolName)}`
    : `Approval asked: ${visibleText(action || toolName)}`;
}
