// The columns of the list of runs: those that fit the screen, or those that a person has chosen.

import { useMemo } from "react";
import { useMedia } from "../lib/media.ts";
import { runColumns } from "../lib/preferences.ts";
import { useStore } from "../lib/store.ts";

/** The width of each column, in the order of the table. */
const widths = {
  state: "8.4rem",
  run: "5.4rem",
  agent: "minmax(4rem, 8rem)",
  input: "minmax(8rem, 1fr)",
  result: "minmax(8rem, 1fr)",
  session: "5.4rem",
  model: "minmax(4rem, 9rem)",
  turns: "2.8rem",
  tokens: "3.8rem",
  cost: "4.4rem",
  started: "5.4rem",
  duration: "4.8rem",
} as const;

export type Column = keyof typeof widths;

const allColumns = Object.keys(widths) as readonly Column[];
/** The mark, the state and the link of a row always show. */
const fixed: readonly Column[] = ["state", "run"];
export const offeredColumns: readonly Column[] = allColumns.filter((name) => !fixed.includes(name));

/** How the table is laid out. */
export interface Layout {
  readonly shown: readonly Column[];
  /** Whether a row is a card, whose parts have fixed places. */
  readonly isCard: boolean;
  /** The column of the grid that has the result below the input, counted from 1; undefined while they are beside each other. */
  readonly stack: number | undefined;
  /** The columns of the grid, for CSS. */
  readonly template: string;
}

/** Returns the layout for this screen, and renders again when it changes. */
export function useLayout(): Layout {
  const chosen = useStore(runColumns);
  const isCard = useMedia("(max-width: 820px)");
  const isNarrow = useMedia("(max-width: 1180px)");
  const isMedium = useMedia("(max-width: 1500px)");
  return useMemo(() => {
    const hidden: readonly Column[] = [
      ...(isMedium ? (["model", "turns"] as const) : []),
      ...(isNarrow ? (["session", "cost"] as const) : []),
      ...(isCard ? (["tokens"] as const) : []),
    ];
    // A card has no columns to choose.
    const isChosen = chosen !== undefined && !isCard;
    const shown = allColumns.filter((name) =>
      isChosen ? fixed.includes(name) || chosen.includes(name) : !hidden.includes(name),
    );
    const isStacked = isMedium && !isCard && shown.includes("input") && shown.includes("result");
    const tracks = shown.filter((name) => !isStacked || name !== "result").map((name) => trackOf(name, isChosen));
    return { shown, isCard, stack: isStacked ? shown.indexOf("input") + 1 : undefined, template: tracks.join(" ") };
  }, [chosen, isCard, isNarrow, isMedium]);
}

/** Columns that a person has chosen may need more width than there is. */
function trackOf(name: Column, isChosen: boolean): string {
  const width = widths[name];
  return isChosen && !fixed.includes(name) && !width.startsWith("minmax") ? `minmax(0, ${width})` : width;
}
