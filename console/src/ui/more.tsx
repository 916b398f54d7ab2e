// The way to the next page of a list.

import type { ReactNode } from "react";

interface Paged {
  readonly hasNextPage: boolean;
  fetchNextPage(options: { cancelRefetch: boolean }): Promise<unknown>;
}

/** A button that adds the next page. The last page has none. */
export function More({ list, children }: { readonly list: Paged; readonly children: ReactNode }) {
  if (!list.hasNextPage) {
    return null;
  }
  // A second click waits for the page that the first one asked for.
  const fetchNext = () => void list.fetchNextPage({ cancelRefetch: false });
  return (
    <div className="actions">
      <button type="button" className="button" onClick={fetchNext}>
        {children}
      </button>
    </div>
  );
}
