// Renders the Markdown of models as elements. It never makes HTML from text: an unknown or unsafe construct stays as it is
// written. Each top-level block is a component of its own, so live text renders its last block only.

import { Fragment, memo, type ReactNode, useLayoutEffect, useMemo, useRef } from "react";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "./code-block.tsx";
import { usePart } from "./show-more.tsx";

/** Blocks behind this limit have no colours: each coloured word is an element. */
const colouredCharsMax = 50_000;

/** Shows Markdown. `isLive` shows where the text is being written. */
export function Markdown({ text, isLive = false }: { readonly text: string; readonly isLive?: boolean }) {
  const [charsMax, more] = usePart(text.length);
  // The blocks of a live text that is cut move with each new one.
  const isCut = isLive && more !== null;
  const part = isLive ? endOf(text, charsMax) : startOf(text, charsMax);
  const blocks = useMemo(() => splitBlocks(visibleText(part)), [part]);
  let chars = 0;
  return (
    <div className="markdown" data-live={isLive || undefined}>
      {isCut && <p className="hint">The beginning of this long text is shown when it is complete.</p>}
      {blocks.map((block, index) => {
        chars += block.length;
        const grows = isLive && index === blocks.length - 1;
        return <Block key={index} block={block} hasColours={!isCut && chars <= colouredCharsMax} grows={grows} />;
      })}
      {!isLive && more}
    </div>
  );
}

/** Returns the start of a text, up to the end of a block if one is near. */
function startOf(text: string, charsMax: number): string {
  const end = text.length <= charsMax ? -1 : text.lastIndexOf("\n\n", charsMax);
  return text.slice(0, end > charsMax / 2 ? end : charsMax);
}

/** Returns the end of a text, where live text is written, from the start of a block if one is near. */
function endOf(text: string, charsMax: number): string {
  const from = Math.max(0, text.length - charsMax);
  const start = from === 0 ? -1 : text.indexOf("\n\n", from);
  return text.slice(start === -1 ? from : start);
}

/** Splits at empty lines outside fences. */
function splitBlocks(text: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence = "";
  const flush = (): void => {
    if (lines.length > 0) {
      blocks.push(lines.join("\n"));
      lines = [];
    }
  };
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence !== "") {
      lines.push(line);
      if (mark.startsWith(fence) && line.trim() === mark) {
        fence = "";
        flush();
      }
    } else if (mark !== "") {
      flush();
      fence = mark;
      lines.push(line);
    } else if (line.trim() === "") {
      flush();
    } else {
      if (isHeading(line) || isHeading(lines[0] ?? "")) {
        flush();
      }
      lines.push(line);
    }
  }
  flush();
  return blocks;
}

/**
 * `hasColours` is false for code that stays as it is. A block that a model still writes has its colours when it is closed. `grows` is true
 * for the last block of a live text.
 */
const Block = memo(function Block({
  block,
  hasColours,
  grows,
}: {
  readonly block: string;
  readonly hasColours: boolean;
  readonly grows: boolean;
}) {
  const lines = block.split("\n");
  const first = lines[0] ?? "";
  const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(first);
  if (fence !== null) {
    const isClosed =
      lines.length > 1 &&
      lines
        .at(-1)
        ?.trim()
        .startsWith(fence[1] ?? "") === true;
    const name = fence[2] ?? "";
    return (
      <CodeBlock
        text={lines.slice(1, isClosed ? -1 : undefined).join("\n")}
        label={name || "code"}
        language={hasColours && isClosed ? name : ""}
      />
    );
  }
  if (isHeading(first)) {
    // The page's own headings come first: a model's heading must not become one of them.
    return (
      <p className="markdown-heading" dir="auto">
        {inline(first.replace(/^#{1,6}\s+/, ""))}
      </p>
    );
  }
  if (/^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/.test(block)) {
    return <hr />;
  }
  if (lines.every((line) => line.startsWith(">"))) {
    return <blockquote dir="auto">{withBreaks(lines.map((line) => line.replace(/^>\s?/, "")))}</blockquote>;
  }
  const [, separator = ""] = lines;
  if (first.includes("|") && isSeparator(separator)) {
    return <Table lines={lines} />;
  }
  if (isItem(first)) {
    return <List lines={lines} />;
  }
  return (
    <p dir="auto">
      {withBreaks(lines.slice(0, -1))}
      {lines.length > 1 && <br />}
      {inline(lines.at(-1) ?? "", grows)}
    </p>
  );
});

function List({ lines }: { readonly lines: readonly string[] }) {
  const items: { depth: number; text: string }[] = [];
  for (const line of lines) {
    const item = itemPattern.exec(line);
    const last = items.at(-1);
    if (item !== null) {
      items.push({ depth: Math.min(3, Math.floor((item[1] ?? "").length / 2)), text: (item[3] ?? "").trimStart() });
    } else if (last !== undefined) {
      last.text += ` ${line.trim()}`;
    }
  }
  const rows = items.map(({ depth, text }, index) => (
    <li key={index} data-depth={depth} data-task={taskPattern.test(text) || undefined}>
      {task(text)}
      {inline(text.replace(taskPattern, ""))}
    </li>
  ));
  const start = /^\s*(\d+)/.exec(lines[0] ?? "")?.[1];
  return start === undefined ? (
    <ul dir="auto">{rows}</ul>
  ) : (
    <ol dir="auto" start={Number(start)}>
      {rows}
    </ol>
  );
}

/** Shows the box of a task. Example: `[x] Ship it`. */
function task(text: string): ReactNode {
  const mark = taskPattern.exec(text)?.[1];
  const isDone = mark !== undefined && mark !== " ";
  return (
    mark !== undefined && <input type="checkbox" disabled checked={isDone} aria-label={isDone ? "done" : "to do"} />
  );
}

function Table({ lines }: { readonly lines: readonly string[] }) {
  const [head = [], marks = [], ...rows] = lines.map(splitCells);
  const sides = marks.map((mark) => (mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "right") : undefined));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <div className="markdown-table" role="group" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={`${index}${cell}`} dir="auto" data-side={sides[index]}>
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, index) => (
                <td key={`${index}${cell}`} dir="auto" data-side={sides[index]}>
                  {inline(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function splitCells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

/** Matches the line below the head of a table: only its marks, with a bar behind the first one. */
function isSeparator(line: string): boolean {
  return /^[\s:|-]+$/.test(line) && line.includes("-") && line.lastIndexOf("|") > 0;
}

const itemPattern = /^(\s*)([-*+]|\d{1,9}[.)])\s(.*)$/s;

const taskPattern = /^\[([ xX])\]\s+/;

function isItem(line: string): boolean {
  return itemPattern.test(line);
}

function isHeading(line: string): boolean {
  return /^#{1,6}\s+\S/.test(line);
}

function withBreaks(lines: readonly string[]): ReactNode {
  return lines.map((line, index) => (
    <Fragment key={index}>
      {index > 0 && <br />}
      {inline(line)}
    </Fragment>
  ));
}

/** Code first: nothing within it is a mark. The lengths are bounded, so no text makes the search slow. */
const marks =
  /(?<code>`[^`\n]{1,2000}`)|(?<strong>\*\*[^*\n]{1,2000}\*\*)|(?<emphasis>(?<![\w*])[*_][^*_\n]{1,2000}[*_](?![\w*]))|(?<link>\[[^\]\n]{1,500}\]\([^)\s]{1,2000}\))|(?<address>https?:\/\/[^\s<>()[\]"']{1,2000}[^\s<>()[\]"'.,;:!?])/g;

function inline(text: string, grows = false): ReactNode[] {
  const nodes: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(marks)) {
    nodes.push(text.slice(end, match.index));
    nodes.push(<Fragment key={match.index}>{mark(match)}</Fragment>);
    end = match.index + match[0].length;
  }
  nodes.push(grows ? <GrowingText key="end" text={text.slice(end)} /> : text.slice(end));
  return nodes;
}

/** A text that gets longer. To append lays out the last lines alone; to set a text lays out all. */
function GrowingText({ text }: { readonly text: string }) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const shown = element.current?.firstChild;
    if (shown instanceof Text && text.startsWith(shown.data)) {
      shown.appendData(text.slice(shown.length));
    } else {
      element.current?.replaceChildren(text);
    }
  }, [text]);
  return <span ref={element} />;
}

function mark({ 0: whole, groups = {} }: RegExpMatchArray): ReactNode {
  if (groups.code !== undefined) {
    return <code>{whole.slice(1, -1)}</code>;
  }
  if (groups.strong !== undefined) {
    return <strong>{inline(whole.slice(2, -2))}</strong>;
  }
  if (groups.emphasis !== undefined) {
    return <em>{inline(whole.slice(1, -1))}</em>;
  }
  if (groups.address !== undefined) {
    return <OuterLink url={whole} label={whole} />;
  }
  const [, label = "", url = ""] = /^\[([^\]]*)\]\((.*)\)$/.exec(whole) ?? [];
  return URL.canParse(url) && /^https?:/i.test(url) ? <OuterLink url={url} label={label} /> : whole;
}

/** A link that a model wrote. Its host is always visible, because the label may name another one. */
export function OuterLink({ url, label }: { readonly url: string; readonly label: string }) {
  const { host } = new URL(url);
  return (
    <>
      <a href={url} target="_blank" rel="noopener noreferrer nofollow">
        {label}
      </a>
      {label !== url && <span className="link-host"> ({host})</span>}
    </>
  );
}
