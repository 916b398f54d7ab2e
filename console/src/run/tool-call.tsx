// One tool call: its name and what it was about in a line, its arguments and its result when opened.

import { lazy, Suspense } from "react";
import { Link } from "wouter";
import type { RowContent } from "../../../src/platform/run-view/row.ts";
import { formatDuration, shortId } from "../lib/format.ts";
import { prettyJson, visibleText } from "../lib/visible-text.ts";
import { CodeBlock, JsonBlock } from "../ui/code-block.tsx";
import { languageOfJson } from "../ui/code-language.ts";
import { Icon } from "../ui/icon.tsx";
import { Loading } from "../ui/notice.tsx";
import { changesOf } from "./changes-of.ts";

/** Few calls change files, and the search for the lines has its own script. */
const DiffBlock = lazy(() => import("./diff-block.tsx"));

export type ToolContent = Extract<RowContent, { kind: "tool" }>;
type Given = Readonly<Record<string, unknown>>;

export function ToolCall({
  startMs,
  content,
  withoutResult = "no result",
  isOpen = false,
}: {
  readonly startMs: number;
  readonly content: ToolContent;
  /** What a call does that has no result yet. */
  readonly withoutResult?: "running" | "waiting" | "no result";
  readonly isOpen?: boolean;
}) {
  const { name, parameters, isOfProvider, childRunId, result, error, endMs } = content;
  const given = readObject(parameters);
  const answer = result === undefined ? {} : readObject(result);
  const changes = changesOf(given, answer);
  // The texts of the built-in tools are in their changes.
  const hasArguments = changes.length === 0 || Array.isArray(given.diffs) || Array.isArray(answer.diffs);
  const outcome = error !== undefined ? "failed" : result !== undefined ? "done" : withoutResult;
  return (
    <details className="fold tool" data-outcome={outcome} open={isOpen || changes.length > 0}>
      <summary>
        <Icon name="chevron" />
        <b>{visibleText(name)}</b>
        <span className="tool-about">{visibleText(aboutOf(given))}</span>
        <span className="tool-end">
          {isOfProvider && "run by the provider · "}
          {outcome}
          {endMs !== undefined && ` · ${formatDuration(endMs - startMs)}`}
        </span>
      </summary>
      <div className="fold-body">
        {hasArguments && <Arguments given={given} parameters={parameters} />}
        {changes.map((change, index) => (
          <Suspense key={index} fallback={<Loading what="the change" />}>
            <DiffBlock change={change} />
          </Suspense>
        ))}
        {childRunId !== undefined && <Link href={`/runs/${childRunId}`}>Run {shortId(childRunId)}</Link>}
        {result !== undefined && answer.content !== "" && (
          <Result isTerminal={name === "bash"} text={readResult(result)} />
        )}
        {error !== undefined && <CodeBlock label="error" text={error} />}
      </div>
    </details>
  );
}

/** A terminal prints what it likes; other tools may print JSON. */
function Result({ isTerminal, text }: { readonly isTerminal: boolean; readonly text: string }) {
  return isTerminal ? (
    <CodeBlock label="result" tone="terminal" text={text} />
  ) : (
    <CodeBlock label="result" text={text} language={languageOfJson(text)} />
  );
}

/** Commands show as a terminal, and everything else as JSON: without the changes, which have their own blocks. */
function Arguments({ given, parameters }: { readonly given: Given; readonly parameters: string }) {
  const { diffs, command } = given;
  if (typeof command === "string") {
    return <CodeBlock label="command" tone="terminal" language="shell" text={`$ ${command}`} />;
  }
  return (
    <JsonBlock
      label="arguments"
      json={diffs === undefined ? parameters : JSON.stringify({ ...given, diffs: undefined })}
    />
  );
}

/** Built-in tools return `{"content": text}`. */
function readResult(result: string): string {
  const { content } = readObject(result);
  return typeof content === "string" ? content : prettyJson(result);
}

/** Returns the most telling argument. Example: the path of `read_file`. */
function aboutOf(given: Given): string {
  const known = ["command", "file_path", "path", "pattern", "query", "url"].map((key) => given[key]);
  const about = [...known, ...Object.values(given)].find((value) => typeof value === "string");
  return typeof about === "string" ? about.slice(0, 200) : "";
}

function readObject(json: string): Given {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
