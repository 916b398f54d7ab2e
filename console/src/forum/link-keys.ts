// `j` and `k` in a list of links: they move the focus, and `Enter` opens the link as the browser does.

import type { RefObject } from "react";
import { useShortcuts } from "../lib/shortcuts.ts";

/** Listens for the keys while the list is shown. They begin at the link of what is shown. */
export function useLinkKeys(list: RefObject<HTMLElement | null>): void {
  const move = (by: number): void => {
    const links = [...(list.current?.querySelectorAll("a") ?? [])];
    const focused = links.findIndex((link) => link.matches(":focus"));
    const at = focused === -1 ? links.findIndex((link) => link.ariaCurrent === "true") : focused;
    links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
}
