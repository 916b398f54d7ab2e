// The keys `j` and `k` in a list whose rows are all in the document: each row has one element with `data-row`, which takes the focus.

import { type RefObject, useRef } from "react";
import { useShortcuts } from "./shortcuts.ts";

/** Moves the focus through the rows in the element of the returned reference. `Enter` does what the focused element does. */
export function useRowKeys<List extends HTMLElement>(): RefObject<List | null> {
  const list = useRef<List>(null);
  const move = (by: number): void => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const at = rows.findIndex((row) => row.matches(":focus"));
    rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return list;
}
