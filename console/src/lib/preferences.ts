// What a person has chosen for this browser. Nothing here is a secret.

import { Store } from "./store.ts";

export type Theme = "system" | "light" | "dark";

const themeKey = "runnel.theme";
const runColumnsKey = "runnel.run-columns";
const shortcutsKey = "runnel.shortcuts";

/** The colour theme. */
export const theme = new Store<Theme>(readTheme());
/** Whether single keys work as shortcuts. Speech input and some keyboards need them off (WCAG 2.1.4). */
export const shortcutsOn = new Store<boolean>(read(shortcutsKey) !== "off");

/** The columns that a person has chosen for the list of runs; undefined shows those that fit the screen. */
export const runColumns = new Store<readonly string[] | undefined>(read(runColumnsKey)?.split(","));

theme.subscribe(() => {
  write(themeKey, theme.get());
  applyTheme();
});
shortcutsOn.subscribe(() => write(shortcutsKey, shortcutsOn.get() ? "on" : "off"));

runColumns.subscribe(() => write(runColumnsKey, runColumns.get()?.join(",")));

/** Sets the theme of the page. The style sheet follows the system without one. */
export function applyTheme(): void {
  const chosen = theme.get();
  if (chosen === "system") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = chosen;
  }
}

function readTheme(): Theme {
  const stored = read(themeKey);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** A browser may refuse storage to a page; the choice then lasts as long as the page. */
function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a value; undefined removes it. */
function write(key: string, value: string | undefined): void {
  try {
    if (value === undefined) {
      localStorage.removeItem(key);
    } else {
      localStorage.setItem(key, value);
    }
  } catch {
    // The choice lasts as long as the page.
  }
}
