// One tool call: its name and what it was about in a line, its arguments and its result when opened.

import { Link } from "wouter";
import { formatDuration, shortId } from "../lib/format.ts";
import { prettyJson, visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Icon } from "../ui/icon.tsx";
import type { Row, RowContent } from "./transcript.ts";

type ToolContent = Extract<RowContent, { kind: "tool" }>;

export function ToolCall({ row, content }: { readonly row: Row; readonly content: ToolContent }) {
  const { name, parameters, isOfProvider, childRunId, result, error, endMs } = content;
  const given = readObject(parameters);
  const outcome = error !== undefined ? "failed" : result !== undefined ? "done" : "running";
  return (
    <details className="fold tool" data-outcome={outcome}>
      <summary>
        <Icon name="chevron" />
        <b>{visibleText(name)}</b>
        <span className="tool-about">{visibleText(aboutOf(given))}</span>
        <span className="tool-end">
          {isOfProvider && "run by the provider · "}
          {outcome}
          {endMs !== undefined && ` · ${formatDuration(endMs - row.timeMs)}`}
        </span>
      </summary>
      <div className="fold-body">
        <Arguments given={given} parameters={parameters} />
        {childRunId !== undefined && <Link href={`/runs/${childRunId}`}>Run {shortId(childRunId)}</Link>}
        {result !== undefined && (
          <CodeBlock label="result" text={readResult(result)} {...(name === "bash" && terminal)} />
        )}
        {error !== undefined && <CodeBlock label="error" text={error} />}
      </div>
    </details>
  );
}

const terminal = { tone: "terminal" } as const;

/** Edits show as a difference, commands as a terminal, and everything else as JSON. */
function Arguments({
  given,
  parameters,
}: {
  readonly given: Readonly<Record<string, unknown>>;
  readonly parameters: string;
}) {
  const { old_string: before, new_string: after, command } = given;
  if (typeof before === "string" && typeof after === "string") {
    return <CodeBlock label={String(given.path ?? "edit")} tone="diff" text={diffOf(before, after)} />;
  }
  if (typeof command === "string") {
    return <CodeBlock label="command" tone="terminal" text={`$ ${command}`} />;
  }
  return <CodeBlock label="arguments" text={prettyJson(parameters)} />;
}

/** Shows all lines before as removed and all lines after as added, without those that both share at either end. */
function diffOf(before: string, after: string): string {
  const [old, next] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) {
    start += 1;
  }
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) {
    end += 1;
  }
  return [
    ...old.slice(0, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...next.slice(start, next.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end).map((line) => ` ${line}`),
  ].join("\n");
}

/** Built-in tools return `{"content": text}`. */
function readResult(result: string): string {
  const { content } = readObject(result);
  return typeof content === "string" ? content : prettyJson(result);
}

/** Returns the most telling argument. Example: the path of `read_file`. */
function aboutOf(given: Readonly<Record<string, unknown>>): string {
  const known = ["command", "path", "pattern", "query", "url"].map((key) => given[key]);
  const about = [...known, ...Object.values(given)].find((value) => typeof value === "string");
  return typeof about === "string" ? about.slice(0, 200) : "";
}

function readObject(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
