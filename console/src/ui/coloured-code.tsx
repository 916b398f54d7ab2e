// Code with colours, once their script is there. It makes no HTML: each piece is text in an element.

import { useEffect, useMemo, useState } from "react";
import type { CodePiece } from "./colour.ts";

let colours: typeof import("./colour.ts") | undefined;

/** Returns the pieces of code; undefined while the script of the colours is loaded, and for code without colours. */
export function useColours(text: string, language: string): readonly CodePiece[] | undefined {
  const [isLoaded, setLoaded] = useState(colours !== undefined);
  useEffect(() => {
    if (language !== "" && !isLoaded) {
      import("./colour.ts").then(
        (loaded) => {
          colours = loaded;
          setLoaded(true);
        },
        // Without its colours, code stays readable.
        () => {},
      );
    }
  }, [language, isLoaded]);
  return useMemo(
    () => (language === "" || !isLoaded ? undefined : colours?.colourCode(text, language)),
    [text, language, isLoaded],
  );
}

/** The types of pieces that look like text. */
const plain: ReadonlySet<CodePiece["type"]> = new Set(["identifier", "sign", "jsxliterals", "break", "space"]);

/** Shows pieces of code. */
export function CodePieces({ pieces }: { readonly pieces: readonly CodePiece[] }) {
  return pieces.map(({ text, type }, index) =>
    plain.has(type) ? (
      text
    ) : (
      <span key={index} data-code={type}>
        {text}
      </span>
    ),
  );
}
