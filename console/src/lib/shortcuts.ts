// Single keys as shortcuts. They never take a key from a field, a dialog or a combination with Ctrl, Alt or Meta.

import { type RefObject, useLayoutEffect, useRef } from "react";
import { shortcutsOn } from "./preferences.ts";

/** Actions by key: a character such as `j`, or a sequence such as `g r`. */
export type Shortcuts = Readonly<Record<string, () => void>>;

/** How long the second key of a sequence may take. */
const sequenceMs = 1_000;

/** The shortcuts of all components that are shown, the innermost first. */
const shown = new Set<RefObject<Shortcuts>>();
let first: { readonly key: string; readonly atMs: number } | undefined;

/** Listens for the keys while the component is shown. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  // An effect after the paint would miss a key that a person presses as soon as the view appears.
  useLayoutEffect(() => {
    shown.add(current);
    return () => {
      shown.delete(current);
    };
  }, []);
}

document.addEventListener("keydown", (event) => {
  if (!shortcutsOn.get() || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) {
    return;
  }
  if (isTyping(event) || isPressing(event)) {
    return;
  }
  const sequence = first !== undefined && event.timeStamp - first.atMs < sequenceMs ? `${first.key} ${event.key}` : "";
  first = { key: event.key, atMs: event.timeStamp };
  const action = find(sequence) ?? find(event.key);
  if (action !== undefined) {
    event.preventDefault();
    action();
  }
});

function find(keys: string): (() => void) | undefined {
  for (const { current } of shown) {
    if (current[keys] !== undefined) {
      return current[keys];
    }
  }
  return undefined;
}

/** `Enter` on a link or a button does what they do. */
function isPressing({ key, target }: KeyboardEvent): boolean {
  return key === "Enter" && target instanceof HTMLElement && target.closest("a, button, summary") !== null;
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest(`input:not([type="checkbox"]), textarea, select, dialog[open]`) !== null)
  );
}
