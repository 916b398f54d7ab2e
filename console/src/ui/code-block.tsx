// Text in a fixed width, with a name and a button that copies it.

import { prettyJson, visibleText } from "../lib/visible-text.ts";
import { languageOfJson } from "./code-language.ts";
import { CodePieces, useColours } from "./coloured-code.tsx";
import { CopyButton } from "./copy-button.tsx";
import { usePart } from "./show-more.tsx";

/** Shows text as it is, with the colours of its language. `tone` is `terminal` for the output of commands. */
export function CodeBlock({
  text,
  label,
  tone,
  language = "",
}: {
  readonly text: string;
  readonly label: string;
  readonly tone?: "terminal";
  /** As a model writes it behind a fence; unknown ones have no colours. */
  readonly language?: string;
}) {
  const [charsMax, more] = usePart(text.length);
  const shown = visibleText(text.slice(0, charsMax));
  const pieces = useColours(shown, language);
  return (
    <figure className="code" data-tone={tone}>
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} what={label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} aria-label={label} role="group">
        <code>{pieces === undefined ? shown : <CodePieces pieces={pieces} />}</code>
      </pre>
      {more}
    </figure>
  );
}

/** Shows JSON text with indentation, and a text that is not JSON as it is. */
export function JsonBlock({ json, label }: { readonly json: string; readonly label: string }) {
  const text = prettyJson(json);
  return <CodeBlock text={text} label={label} language={languageOfJson(text)} />;
}
