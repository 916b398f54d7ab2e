// Text in a fixed width, with a name and a button that copies it.

import { visibleText } from "../lib/visible-text.ts";
import { CopyButton } from "./copy-button.tsx";

/** Shows text as it is. `tone` is `terminal` for the output of commands. */
export function CodeBlock({
  text,
  label,
  tone,
}: {
  readonly text: string;
  readonly label: string;
  readonly tone?: "terminal" | "diff";
}) {
  return (
    <figure className="code" data-tone={tone}>
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} what={label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} aria-label={label} role="group">
        {tone === "diff" ? <Diff text={text} /> : <code>{visibleText(text)}</code>}
      </pre>
    </figure>
  );
}

function Diff({ text }: { readonly text: string }) {
  return (
    <code>
      {text.split("\n").map((line, index) => (
        <span key={index} className="diff-line" data-sign={line[0]}>
          {visibleText(line)}
          {"\n"}
        </span>
      ))}
    </code>
  );
}
