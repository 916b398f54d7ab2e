// Long texts in parts: a browser needs seconds to lay out megabytes, so a part is shown, and the next one when a person asks.

import { useState } from "react";
import { formatShort } from "../lib/format.ts";

/** A screen shows some thousands. */
const charsAtFirst = 100_000;
const charsMore = 400_000;

/** Returns how many characters to show, and the button for more; the button is null when the whole text is shown. */
export function usePart(length: number): readonly [charsMax: number, more: React.ReactNode] {
  const [charsMax, setCharsMax] = useState(charsAtFirst);
  const left = length - charsMax;
  const more =
    left <= 0 ? null : (
      <button type="button" className="show-more" onClick={() => setCharsMax(charsMax + charsMore)}>
        Show {formatShort(Math.min(left, charsMore))} more of {formatShort(length)} characters
      </button>
    );
  return [charsMax, more];
}
