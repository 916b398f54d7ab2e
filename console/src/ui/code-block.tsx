// Text in a fixed width, with a name and a button that copies it.

import { visibleText } from "../lib/visible-text.ts";
import { CopyButton } from "./copy-button.tsx";
import { usePart } from "./show-more.tsx";

/** Shows text as it is. `tone` is `terminal` for the output of commands. */
export function CodeBlock({
  text,
  label,
  tone,
}: {
  readonly text: string;
  readonly label: string;
  readonly tone?: "terminal";
}) {
  const [charsMax, more] = usePart(text.length);
  return (
    <figure className="code" data-tone={tone}>
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} what={label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} aria-label={label} role="group">
        <code>{visibleText(text.slice(0, charsMax))}</code>
      </pre>
      {more}
    </figure>
  );
}
