// Single keys as shortcuts. They never take a key from a field, a dialog or a combination with Ctrl, Alt or Meta.

import { useEffect, useRef } from "react";
import { shortcutsOn } from "./preferences.ts";

/** Actions by key: a character such as `j`, or a sequence such as `g r`. */
export type Shortcuts = Readonly<Record<string, () => void>>;

/** How long the second key of a sequence may take. */
const sequenceMs = 1_000;

/** Listens for the keys while the component is shown. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    let first: { readonly key: string; readonly atMs: number } | undefined;
    const listen = (event: KeyboardEvent): void => {
      if (
        !shortcutsOn.get() ||
        event.ctrlKey ||
        event.altKey ||
        event.metaKey ||
        event.defaultPrevented ||
        isTyping(event)
      ) {
        return;
      }
      const prefix = first !== undefined && event.timeStamp - first.atMs < sequenceMs ? `${first.key} ` : "";
      first = { key: event.key, atMs: event.timeStamp };
      const action = current.current[prefix + event.key] ?? current.current[event.key];
      if (action !== undefined) {
        event.preventDefault();
        action();
      }
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select, dialog[open]") !== null)
  );
}
