// Two texts beside each other, with what went marked on the left and what came on the right.

import { type Change, diffWordsWithSpace } from "diff";
import { useMemo } from "react";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";

/** Two texts that differ in more show unmarked: the search takes the product of this and their length. */
const editsMax = 2_000;
const searchMs = 200;
/** More than this stops the page for a moment. */
const charsMax = 50_000;

export function Pair({
  title,
  left,
  right,
}: {
  readonly title: string;
  readonly left: string;
  readonly right: string;
}) {
  const changes = useMemo(
    () =>
      left === right
        ? undefined
        : diffWordsWithSpace(left.slice(0, charsMax), right.slice(0, charsMax), {
            maxEditLength: editsMax,
            timeout: searchMs,
          }),
    [left, right],
  );
  if (left === "" && right === "") {
    return null;
  }
  if (left === right) {
    return (
      <details className="fold">
        <summary>
          <Icon name="chevron" />
          {title}: the same in both
        </summary>
        <Text title={title} parts={[{ value: left }]} />
      </details>
    );
  }
  const isCut = Math.max(left.length, right.length) > charsMax;
  return (
    <section className="pair" aria-label={`${title}: different`}>
      <h3>{title}</h3>
      {changes === undefined && <p className="hint">The texts differ in too much to mark the differences.</p>}
      {isCut && <p className="hint">Only the first {charsMax.toLocaleString("en-GB")} characters are compared.</p>}
      <div className="pair-sides">
        <Text
          title={`${title}, left`}
          parts={changes?.filter(({ added }) => !added) ?? [{ value: left.slice(0, charsMax) }]}
        />
        <Text
          title={`${title}, right`}
          parts={changes?.filter(({ removed }) => !removed) ?? [{ value: right.slice(0, charsMax) }]}
        />
      </div>
    </section>
  );
}

type Part = Pick<Change, "value"> & Partial<Pick<Change, "added" | "removed">>;

function Text({ title, parts }: { readonly title: string; readonly parts: readonly Part[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <pre className="pair-text" tabIndex={0} role="group" aria-label={title} dir="auto">
      {parts.map(({ value, added, removed }, index) => {
        const Element = added === true ? "ins" : removed === true ? "del" : "span";
        return <Element key={index}>{visibleText(value)}</Element>;
      })}
    </pre>
  );
}
