// Every entry of a log as it is: a line each, with search, and the chosen one in full below.

import { useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { timeOf, typeName } from "../../../src/platform/run-view/transcript.ts";
import { download } from "../lib/download.ts";
import { formatCount, formatDuration } from "../lib/format.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Icon } from "../ui/icon.tsx";
import { VirtualList, type VirtualListHandle } from "../ui/virtual-list.tsx";
import { entryJson } from "./entry-json.ts";
import type { RunLog } from "./run-log.ts";

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
  const { length } = entries;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the array stays the same and grows.
  const shown = useMemo(() => findEntries(entries, text), [entries, length, text]);
  const chosen = sequence === undefined ? undefined : entries[sequence - 1];
  const chosenText = useMemo(() => (chosen === undefined ? "" : JSON.stringify(entryJson(chosen), null, 2)), [chosen]);
  const index = chosen === undefined ? -1 : shown.indexOf(chosen);
  const move = (by: number): void => {
    const next = Math.min(shown.length - 1, Math.max(0, index + by));
    const entry = shown[next];
    if (entry !== undefined) {
      onSelect(Number(entry.sequence));
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
  const startMs = entries[0] === undefined ? 0 : timeOf(entries[0]);
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
          {formatCount(shown.length)} {shown.length === 1 ? "entry" : "entries"}
        </span>
        <div className="spacer" />
        <CopyButton label="Copy all" what="all entries" text={() => toLines(shown)} />
        <button
          type="button"
          className="button"
          onClick={() => download(`run-${log.runId}.jsonl`, toLines(shown), "application/jsonl")}
        >
          <Icon name="download" />
          Download
        </button>
      </div>
      <VirtualList
        handle={list}
        className="entries-rows"
        role="list"
        label="Entries"
        count={shown.length}
        rowPx={rowPx}
        keep={index}
        keyOf={(at) => Number(shown[at]?.sequence ?? at)}
        render={(at) => {
          const entry = shown[at];
          return (
            entry && (
              <EntryLine
                entry={entry}
                href={entryAddress(Number(entry.sequence))}
                startMs={startMs}
                isChosen={entry === chosen}
              />
            )
          );
        }}
      />
      {chosen !== undefined && (
        <div className="entry-detail">
          <CodeBlock key={sequence} label={`entry ${sequence}`} text={chosenText} language="json" />
        </div>
      )}
    </div>
  );
}

function EntryLine({
  entry,
  href,
  startMs,
  isChosen,
}: {
  readonly entry: RunResult;
  readonly href: string;
  readonly startMs: number;
  readonly isChosen: boolean;
}) {
  return (
    <Link href={href} replace className="entry mono" aria-current={isChosen ? "true" : undefined}>
      <span className="entry-sequence">#{Number(entry.sequence)}</span>
      <span className="entry-time">+{formatDuration(timeOf(entry) - startMs)}</span>
      <span className="entry-type">{typeName(entry)}</span>
      <span className="entry-text">{visibleText(preview(entry))}</span>
    </Link>
  );
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

/** Returns the entries whose type or JSON has the text, in capitals or not. */
export function findEntries(entries: readonly RunResult[], text: string): readonly RunResult[] {
  const wanted = text.trim().toLowerCase();
  return wanted === ""
    ? [...entries]
    : entries.filter((entry) =>
        `${typeName(entry)} ${JSON.stringify(entryJson(entry))}`.toLowerCase().includes(wanted),
      );
}

function toLines(entries: readonly RunResult[]): string {
  return `${entries.map((entry) => JSON.stringify(entryJson(entry))).join("\n")}\n`;
}
