// The rows of the list, moved through by wheel and keyboard. Only those in sight are in the document; the focused row stays in it.

import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { keepListPlace } from "../lib/list-place.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { VirtualList, type VirtualListHandle } from "../ui/virtual-list.tsx";

/** What a row reports about the keyboard and the mouse. */
export interface RowKeys {
  readonly onFocus: (runId: string) => void;
  /** The row leads to its run. */
  readonly onLeave: (runId: string) => void;
}

/** Where the table is. */
export interface Place {
  /** How far it is scrolled, in pixels. */
  top: number;
  /** The id of the run whose row has the focus, or had it last. */
  id: string | undefined;
}

/** The rows of a table. */
export interface Rows {
  readonly runs: readonly Run[];
  readonly rowPx: number;
  readonly row: (run: Run, index: number, keys: RowKeys) => ReactNode;
  readonly place: Place;
}

/** The next page is asked for when this many rows are left. */
const rowsAhead = 30;

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function MovingRows({
  runs,
  rowPx,
  row,
  place,
  onEnd,
  onOpen,
}: Rows & { readonly onEnd: () => void; readonly onOpen: (runId: string) => void }) {
  const list = useRef<VirtualListHandle>(null);
  const [current, setCurrent] = useState(place.id);
  const index = runs.findIndex(({ runId }) => runId === current);
  // Two keys may come before the next rendering.
  const latest = useRef(current);
  const choose = useCallback((runId: string): void => {
    latest.current = runId;
    setCurrent(runId);
  }, []);
  const returnsTo = useRef(place.id);
  useEffect(() => {
    if (index >= 0 && returnsTo.current !== undefined) {
      returnsTo.current = undefined;
      list.current?.focus(index);
    }
  }, [index]);
  const leave = useCallback((runId: string): void => keepListPlace({ top: list.current?.top() ?? 0, id: runId }), []);
  const move = (by: number): void => {
    const index = runs.findIndex(({ runId }) => runId === latest.current);
    const next = runs[Math.min(runs.length - 1, Math.max(0, index + by))];
    if (next !== undefined) {
      choose(next.runId);
      list.current?.focus(runs.indexOf(next));
    }
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      if (latest.current !== undefined) {
        leave(latest.current);
        onOpen(latest.current);
      }
    },
  });
  return (
    <VirtualList
      handle={list}
      className="table-body"
      role="rowgroup"
      count={runs.length}
      rowPx={rowPx}
      keep={index}
      firstTop={place.top}
      keyOf={(row) => runs[row]?.runId ?? row}
      onRange={(last) => {
        if (last > runs.length - rowsAhead) {
          onEnd();
        }
      }}
      render={(at) => {
        const run = runs[at];
        return run && row(run, at, { onFocus: choose, onLeave: leave });
      }}
    />
  );
}
