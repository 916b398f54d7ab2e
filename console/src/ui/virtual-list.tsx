// A list of which only the rows in sight are in the document.
//
// V1  The row `keep` stays in the document, so that the keyboard focus is not lost when it leaves the sight.
// V2  With `follows`, the list stays at its end while it grows, until a person scrolls up; at the end it follows again.

import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from "react";
import { type Align, type RowsInSight, useFixedRows } from "./fixed-rows.ts";

export interface VirtualListHandle {
  /** Brings a row into sight, and moves the focus to its first link, or to its first button without one. */
  readonly focus: (index: number) => void;
  readonly scrollTo: (index: number) => void;
  /** Returns how far the list is scrolled, in pixels. */
  readonly top: () => number;
}

export interface VirtualListProps {
  readonly count: number;
  /** The height of a row; an estimate when rows are measured. */
  readonly rowPx: number;
  /** True for rows of different heights. A list remembers each of their heights, so their number has a limit elsewhere. */
  readonly isMeasured?: boolean;
  readonly render: (index: number) => ReactNode;
  readonly keyOf: (index: number) => string | number;
  /** A row that stays, of a list with one height. */
  readonly keep?: number;
  /** How far such a list is scrolled at first, in pixels. */
  readonly firstTop?: number;
  readonly follows?: boolean;
  readonly onFollows?: (follows: boolean) => void;
  readonly onRange?: (lastIndex: number) => void;
  readonly handle?: RefObject<VirtualListHandle | null>;
  readonly className?: string;
  readonly role?: "list" | "rowgroup";
  readonly label?: string;
  /** True makes the region itself reachable by keyboard, for rows without links. */
  readonly isFocusable?: boolean;
}

/** Rows beyond the sight, so that scrolling shows no gap. */
const overscan = 8;
const upKeys: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home"]);
/** A list this close to its end is at its end. */
const endPx = 32;

export function VirtualList(props: VirtualListProps) {
  const {
    count,
    rowPx,
    isMeasured = false,
    render,
    keyOf,
    keep = -1,
    firstTop = 0,
    follows = false,
    onFollows,
    onRange,
    role,
  } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const space = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: isMeasured ? count : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    getItemKey: keyOf,
    overscan,
    // A synchronous rendering within the measuring of rows leaves rows at stale places.
    useFlushSync: false,
  });
  const scrollMeasured = useCallback(
    (index: number, align: Align) => virtualizer.scrollToIndex(index, { align }),
    [virtualizer],
  );
  const fixed = useFixedRows({ scroller, count, rowPx, keep, overscan, firstTop, isOn: !isMeasured });
  const { items, total, scrollTo }: RowsInSight = isMeasured
    ? { items: virtualizer.getVirtualItems(), total: virtualizer.getTotalSize(), scrollTo: scrollMeasured }
    : fixed;
  const last = items.at(-1)?.index ?? 0;

  useEffect(() => onRange?.(last), [onRange, last]);
  /** The row that the list seeks, until a person scrolls: it may be the last one so far. */
  const sought = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (follows && element !== null) {
      sought.current = undefined;
      element.scrollTop = element.scrollHeight;
    }
  });
  const seek = useCallback((): void => {
    if (sought.current !== undefined) {
      scrollTo(sought.current, "center");
    }
  }, [scrollTo]);
  // Chromium 156 may lay the list out some frames after its height was set, and until then the row is out of reach.
  useEffect(() => {
    const observer = new ResizeObserver(seek);
    if (space.current !== null) {
      observer.observe(space.current);
    }
    return () => observer.disconnect();
  }, [seek]);
  useImperativeHandle(props.handle, () => ({
    focus: (index) => {
      sought.current = undefined;
      scrollTo(index, "auto");
      requestAnimationFrame(() => findRow(scroller.current, index)?.focus());
    },
    scrollTo: (index) => {
      sought.current = index;
      seek();
    },
    top: () => scroller.current?.scrollTop ?? 0,
  }));

  const isAtEnd = (): boolean => {
    const element = scroller.current;
    return element !== null && element.scrollHeight - element.scrollTop - element.clientHeight < endPx;
  };
  // Only what a person does ends the following: the list itself scrolls too, as rows are measured.
  const pressed = useRef(false);
  const lastTop = useRef(0);
  const leaveEnd = (): void => {
    const element = scroller.current;
    if (element !== null && element.scrollHeight > element.clientHeight) {
      onFollows?.(false);
    }
  };
  const noteScroll = (): void => {
    const top = scroller.current?.scrollTop ?? 0;
    if (sought.current === undefined && top > lastTop.current && isAtEnd()) {
      onFollows?.(true);
    } else if (top < lastTop.current && pressed.current) {
      leaveEnd();
    }
    lastTop.current = top;
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handlers only notice that a person scrolls.
    <div
      ref={scroller}
      className={`virtual ${props.className ?? ""}`}
      role={props.isFocusable === true ? "group" : undefined}
      aria-label={props.isFocusable === true ? props.label : undefined}
      tabIndex={props.isFocusable === true ? 0 : undefined}
      onScroll={noteScroll}
      onWheel={({ deltaY }) => {
        sought.current = undefined;
        if (deltaY < 0) {
          leaveEnd();
        }
      }}
      onKeyDown={({ key }) => {
        sought.current = undefined;
        if (upKeys.has(key)) {
          leaveEnd();
        }
      }}
      onPointerDown={() => {
        sought.current = undefined;
        pressed.current = true;
      }}
      onPointerUp={() => {
        pressed.current = false;
      }}
      onTouchStart={() => {
        pressed.current = true;
      }}
      onTouchEnd={() => {
        pressed.current = false;
      }}
    >
      <div ref={space} className="virtual-space" role={role} aria-label={props.label} style={{ height: `${total}px` }}>
        {items.map((item) => (
          <div
            key={keyOf(item.index)}
            ref={isMeasured ? virtualizer.measureElement : undefined}
            data-index={item.index}
            className="virtual-row"
            role={role === "list" ? "listitem" : "presentation"}
            aria-setsize={role === "list" ? count : undefined}
            aria-posinset={role === "list" ? item.index + 1 : undefined}
            style={{ transform: `translateY(${item.start}px)`, ...(!isMeasured && { height: `${rowPx}px` }) }}
          >
            {render(item.index)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Returns what a row leads to; without a link its first button. */
function findRow(scroller: HTMLElement | null, index: number): HTMLElement | null {
  const row = scroller?.querySelector(`[data-index="${index}"]`);
  return row?.querySelector("a") ?? row?.querySelector("button") ?? null;
}
