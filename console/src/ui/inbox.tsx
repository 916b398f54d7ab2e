// A list, and beside it the one thing of it that the address names. A narrow page shows one of both.

import { type ReactNode, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useMedia } from "../lib/media.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { VirtualList, type VirtualListHandle } from "./virtual-list.tsx";

const rowPx = 54;
/** The next page is asked for when this many rows are left. */
const rowsAhead = 20;

function useIsWide(): boolean {
  return useMedia("(min-width: 1080px)");
}

interface List<Item> {
  /** The name of the list. */
  readonly label: string;
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  readonly hrefOf: (id: string) => string;
  /** The parts of a row: a name, a state, and a line below them with one text at each side. */
  readonly row: (item: Item) => ReactNode;
  /** Asks for the next page. */
  readonly onEnd: () => void;
}

/** Shows a list with its first thing, or with the chosen one, which may be on a page that is not loaded. */
export function Inbox<Item>({
  chosen,
  oneLabel,
  one,
  ...list
}: List<Item> & {
  readonly chosen: string | undefined;
  readonly oneLabel: string;
  readonly one: (id: string) => ReactNode;
}) {
  const isWide = useIsWide();
  const [first] = list.items;
  // The first thing stays when another one takes its place: nothing changes below the pointer of a person who is about to decide.
  const [kept, setKept] = useState<string | undefined>(undefined);
  if (kept === undefined && first !== undefined) {
    setKept(list.idOf(first));
  }
  const shown = chosen ?? (isWide ? kept : undefined);
  return (
    <div className="inbox">
      {(isWide || chosen === undefined) && <Rows {...list} shown={shown} />}
      {shown !== undefined && (
        <section className="inbox-one" aria-label={oneLabel}>
          {one(shown)}
        </section>
      )}
    </div>
  );
}

/** The name of the view, which leads back to the list where a narrow page shows the chosen thing alone. */
export function InboxTitle({
  title,
  href,
  isChosen,
}: {
  readonly title: string;
  readonly href: string;
  readonly isChosen: boolean;
}) {
  const isWide = useIsWide();
  return (
    <h1>
      {!isWide && isChosen ? (
        <Link href={href} className="crumb back">
          {title}
        </Link>
      ) : (
        title
      )}
    </h1>
  );
}

function Rows<Item>({
  label,
  items,
  idOf,
  hrefOf,
  row,
  onEnd,
  shown,
}: List<Item> & { readonly shown: string | undefined }) {
  const [, navigate] = useLocation();
  const list = useRef<VirtualListHandle>(null);
  // Two keys may come before the next rendering.
  const latest = useRef(shown);
  latest.current = shown;
  const index = items.findIndex((item) => idOf(item) === shown);
  const move = (by: number): void => {
    const at = items.findIndex((item) => idOf(item) === latest.current);
    const next = Math.min(items.length - 1, Math.max(0, at + by));
    const item = items[next];
    if (item !== undefined) {
      latest.current = idOf(item);
      navigate(hrefOf(latest.current), { replace: true });
      list.current?.focus(next);
    }
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return (
    <VirtualList
      handle={list}
      className="inbox-rows"
      role="list"
      label={label}
      count={items.length}
      rowPx={rowPx}
      keep={index}
      keyOf={(at) => {
        const item = items[at];
        return item === undefined ? at : idOf(item);
      }}
      onRange={(last) => {
        if (last > items.length - rowsAhead) {
          onEnd();
        }
      }}
      render={(at) => {
        const item = items[at];
        return (
          item !== undefined && (
            <Link href={hrefOf(idOf(item))} className="inbox-row" aria-current={at === index ? "true" : undefined}>
              {row(item)}
            </Link>
          )
        );
      }}
    />
  );
}
