// Moves the focus through the rows of a view with `j` and `k`. `Enter` opens the focused row, because it is a link.

import { type RefObject, useRef } from "react";
import { useShortcuts } from "../lib/shortcuts.ts";

/** Returns the reference for the element that has the rows. Each row has one link with `data-row`. */
export function useRowKeys(): RefObject<HTMLDivElement | null> {
  const root = useRef<HTMLDivElement>(null);
  const move = (by: number): void => {
    const links = [...(root.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const at = links.findIndex((link) => link.matches(":focus"));
    links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return root;
}
