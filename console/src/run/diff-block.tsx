// A changed file: the lines that went and those that came, each with its sign, and a long change only in part until one asks.

import { useMemo, useState } from "react";
import { formatCount } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import type { CodePiece } from "../ui/colour.ts";
import { CodePieces } from "../ui/coloured-code.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import type { FileChange } from "./changes-of.ts";
import { type ChangedLine, linesOf } from "./line-change.ts";
import { useLineColours } from "./line-colours.ts";

/** A change that a screen can show. */
const linesAtFirst = 40;
/** More at once would stop the page for a moment. */
const linesMore = 1_000;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function DiffBlock({ change }: { readonly change: FileChange }) {
  const { path, before, after } = change;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the texts are the change.
  const { lines, added, removed } = useMemo(() => linesOf(change), [path, before, after]);
  const [shownMax, setShownMax] = useState(linesAtFirst);
  const shown = lines.slice(0, shownMax);
  const colours = useLineColours(shown, path);
  const left = lines.length - shownMax;
  const label = `${visibleText(path)}${before === undefined ? ", new content" : ""}`;
  const counts = `${formatCount(added)} added, ${formatCount(removed)} removed`;
  return (
    <figure className="code" data-tone="diff">
      <figcaption>
        <span>
          <bdi>{label}</bdi> <span className="diff-counts">{counts}</span>
        </span>
        <CopyButton text={() => lines.map(({ sign, text }) => `${sign}${text}`).join("\n")} what={label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} aria-label={`${label}: ${counts}`} role="group">
        <code>
          {shown.map((line, index) => (
            <Line key={index} line={line} pieces={colours.get(line)} />
          ))}
        </code>
      </pre>
      {left > 0 && (
        <button type="button" className="show-more" onClick={() => setShownMax(shownMax + linesMore)}>
          Show {formatCount(Math.min(left, linesMore))} more of {formatCount(lines.length)} lines
        </button>
      )}
    </figure>
  );
}

/** The sign has a column of its own, so that no text can move it; a line has its own direction. */
function Line({
  line: { sign, text },
  pieces,
}: {
  readonly line: ChangedLine;
  readonly pieces: readonly CodePiece[] | undefined;
}) {
  const Element = sign === "+" ? "ins" : sign === "-" ? "del" : "span";
  return (
    <Element className="diff-line" data-sign={sign}>
      <span className="diff-sign">{sign}</span>
      <span className="diff-text" dir="auto">
        {pieces === undefined ? visibleText(text) : <CodePieces pieces={pieces} />}
        {"\n"}
      </span>
    </Element>
  );
}
