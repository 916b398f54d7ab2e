// The keys `j` and `k` in lists whose rows are all in the document: one element of each row has `data-row`, and takes the focus.

import { type RefObject, useRef } from "react";
import { useShortcuts } from "./shortcuts.ts";

/**
 * Moves the focus through the rows in the element of the returned reference, first to the row that is shown. `Enter` does what the
 * focused element does.
 */
export function useRowKeys<List extends HTMLElement>(): RefObject<List | null> {
  const list = useRef<List>(null);
  const move = (by: number): void => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const focused = rows.findIndex((row) => row.matches(":focus"));
    const at = focused === -1 ? rows.findIndex((row) => row.ariaCurrent === "true") : focused;
    rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return list;
}
