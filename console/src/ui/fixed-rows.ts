// The rows in sight of a list whose rows have one height. Each place follows from its index, so a row that is not in sight takes nothing:
// the virtualizer of measured rows keeps 20 bytes of each, and computes all of them again in each rendering.

import { type RefObject, useCallback, useLayoutEffect, useState } from "react";

/** The rows that are in the document, and where they stand. */
export interface RowsInSight {
  readonly items: readonly { readonly index: number; readonly start: number }[];
  /** The height of all rows, in pixels. */
  readonly total: number;
  /** Scrolls to a row; with `auto`, only to one that is not in sight. */
  readonly scrollTo: (index: number, align: Align) => void;
}

export type Align = "auto" | "center";

/** What the list knows of its scroller. */
interface Sight {
  readonly top: number;
  readonly height: number;
}

/** Without `isOn` it does nothing. */
export function useFixedRows({
  scroller,
  count,
  rowPx,
  keep,
  overscan,
  firstTop,
  isOn,
}: {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly count: number;
  readonly rowPx: number;
  /** A row that stays in the document. */
  readonly keep: number;
  readonly overscan: number;
  readonly firstTop: number;
  readonly isOn: boolean;
}): RowsInSight {
  const [begin] = useState(firstTop);
  const [{ top, height }, setSight] = useState<Sight>({ top: begin, height: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!isOn || element === null) {
      return;
    }
    element.scrollTop = begin;
    const look = (): void => setSight((last) => seen(element, last));
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [scroller, isOn, begin]);
  const scrollTo = useCallback(
    (index: number, align: Align): void => {
      const element = scroller.current;
      if (element !== null) {
        element.scrollTop = placeOf(index * rowPx, rowPx, element, align);
        setSight((last) => seen(element, last));
      }
    },
    [scroller, rowPx],
  );
  const inSight = Math.ceil(height / rowPx) + 1;
  const topRow = Math.min(Math.floor(top / rowPx), Math.max(0, count - inSight));
  const first = Math.max(0, topRow - overscan);
  const end = height === 0 ? first : Math.min(count, topRow + inSight + overscan);
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  if (keep >= 0 && keep < count && !indexes.includes(keep)) {
    indexes.push(keep);
    indexes.sort((one, other) => one - other);
  }
  return { items: indexes.map((index) => ({ index, start: index * rowPx })), total: count * rowPx, scrollTo };
}

function placeOf(start: number, rowPx: number, { scrollTop, clientHeight }: HTMLElement, align: Align): number {
  const atEnd = start + rowPx - clientHeight;
  return align === "center" ? (start + atEnd) / 2 : Math.max(atEnd, Math.min(start, scrollTop));
}

/** Returns the sight of now, or the last one when it is the same. */
function seen({ scrollTop: top, clientHeight: height }: HTMLElement, last: Sight): Sight {
  return top === last.top && height === last.height ? last : { top, height };
}
