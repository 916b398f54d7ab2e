// Every entry of a log as it is: a line each, with search, and the chosen one in full below.

import { useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { timeOf, typeName } from "../../../src/platform/run-view/entry.ts";
import { download } from "../lib/download.ts";
import { failureText } from "../lib/failure-text.ts";
import { formatCount, formatDuration } from "../lib/format.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { VirtualList, type VirtualListHandle } from "../ui/virtual-list.tsx";
import { entryJson } from "./entry-json.ts";
import type { EntrySearch } from "./entry-search.ts";
import type { LogEntries } from "./log-entries.ts";
import type { RunLog } from "./run-log.ts";
import { useEntrySearch } from "./use-entry-search.ts";

const rowPx = 26;
/** A line shows no more, and long texts would slow the list down. */
const previewChars = 240;

export function EntriesPane({
  log,
  sequence,
  entryAddress,
  onSelect,
}: {
  readonly log: RunLog;
  readonly sequence: number | undefined;
  readonly entryAddress: (sequence: number) => string;
  readonly onSelect: (sequence: number) => void;
}) {
  const [text, setText] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<VirtualListHandle>(null);
  const { entries } = log;
  const found = useEntrySearch(log, text);
  const count = found.isOn ? found.found.length : entries.count;
  const sequenceAt = (at: number): number => (found.isOn ? (found.found[at] ?? 0) : at + 1);
  const index = indexOf(sequence, found, entries);
  const move = (by: number): void => {
    const next = Math.min(count - 1, Math.max(0, index + by));
    if (next >= 0) {
      onSelect(sequenceAt(next));
      list.current?.focus(next);
    }
  };
  useShortcuts({ "/": () => search.current?.focus(), j: () => move(1), k: () => move(-1) });
  const scrolledTo = useRef<number | undefined>(undefined);
  useEffect(() => {
    // Only a new choice scrolls, and not each entry that arrives later.
    if (index >= 0 && scrolledTo.current !== sequence) {
      scrolledTo.current = sequence;
      list.current?.scrollTo(index);
    }
  }, [index, sequence]);
  const startMs = entries.first === undefined ? 0 : timeOf(entries.first);
  return (
    <div className="entries">
      <div className="entries-tools">
        <label className="entries-search">
          <Icon name="search" />
          <span className="unseen">Search entries</span>
          <input
            ref={search}
            className="input"
            value={text}
            placeholder="search type or text"
            autoComplete="off"
            spellCheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <span className="hint" role="status">
          {formatCount(count)} {count === 1 ? "entry" : "entries"}
          {!found.isDone && " so far"}
        </span>
        <div className="spacer" />
        <CopyButton label="Copy all" what="all entries" text={() => found.toLines()} />
        <button type="button" className="button" onClick={() => void save(log.runId, found)}>
          <Icon name="download" />
          Download
        </button>
      </div>
      <VirtualList
        handle={list}
        className="entries-rows"
        role="list"
        label="Entries"
        count={count}
        rowPx={rowPx}
        keep={index}
        keyOf={sequenceAt}
        render={(at) => (
          <EntryLine
            entries={entries}
            sequence={sequenceAt(at)}
            href={entryAddress(sequenceAt(at))}
            startMs={startMs}
            isChosen={at === index}
          />
        )}
      />
      {sequence !== undefined && sequence <= entries.count && (
        <div className="entry-detail">
          <EntryDetail key={sequence} entries={entries} sequence={sequence} />
        </div>
      )}
    </div>
  );
}

function EntryLine({
  entries,
  sequence,
  href,
  startMs,
  isChosen,
}: {
  readonly entries: LogEntries;
  readonly sequence: number;
  readonly href: string;
  readonly startMs: number;
  readonly isChosen: boolean;
}) {
  const entry = entries.at(sequence);
  useEffect(() => {
    if (entry === undefined) {
      entries.load(sequence);
    }
  });
  return (
    <Link href={href} replace className="entry mono" aria-current={isChosen ? "true" : undefined}>
      <span className="entry-sequence">#{sequence}</span>
      <span className="entry-time">{entry && `+${formatDuration(timeOf(entry) - startMs)}`}</span>
      <span className="entry-type">{entry && typeName(entry)}</span>
      <span className="entry-text">{entry === undefined ? "…" : visibleText(preview(entry))}</span>
    </Link>
  );
}

function EntryDetail({ entries, sequence }: { readonly entries: LogEntries; readonly sequence: number }) {
  const entry = entries.at(sequence);
  const isWhole = entry?.bytesLeftOut === 0;
  useEffect(() => {
    if (!isWhole) {
      entries.load(sequence);
    }
  });
  const text = useMemo(
    () => (entry === undefined || !isWhole ? "" : JSON.stringify(entryJson(entry), null, 2)),
    [entry, isWhole],
  );
  return isWhole ? <CodeBlock label={`entry ${sequence}`} text={text} language="json" /> : <Loading what="the entry" />;
}

/** Returns the place of the chosen entry in the list; -1 where the list does not have it. */
function indexOf(sequence: number | undefined, found: EntrySearch, entries: LogEntries): number {
  if (sequence === undefined || found.isOn) {
    return found.found.indexOf(sequence ?? 0);
  }
  return sequence <= entries.count ? sequence - 1 : -1;
}

async function save(runId: string, found: EntrySearch): Promise<void> {
  try {
    download(`run-${runId}.jsonl`, await found.toLines(), "application/jsonl");
  } catch (failure) {
    showToast({ tone: "bad", text: `The entries could not be read: ${failureText(failure)}` });
  }
}

/** An entry never changes, and a long one takes a while. */
const previews = new WeakMap<RunResult, string>();

/** Returns the payload in one line. */
function preview(entry: RunResult): string {
  const text = previews.get(entry) ?? writePreview(entry);
  previews.set(entry, text);
  return text;
}

function writePreview(entry: RunResult): string {
  const { payload } = entry;
  if (payload.case === "messageDelta") {
    return JSON.stringify(payload.value.chunk?.content ?? "").slice(0, previewChars);
  }
  const { [typeName(entry).replaceAll(".", "_")]: body = {} } = entryJson(entry);
  return JSON.stringify(body).slice(0, previewChars);
}
