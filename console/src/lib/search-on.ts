// Goes on through a list whose filter few things match: a page of the service reads a bounded number of them, and may be empty.

import { useEffect } from "react";

interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isError: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
}

/** Fewer rows do not fill the screen, so no scrolling asks for more. */
const screenRows = 40;

/**
 * Asks for page after page while the list shows less than a screen, or the last page was empty. Returns whether it does. Ends with the
 * view, and rests while the page is hidden.
 */
export function useSearchOn(list: Pages, shown: number, lastPage: readonly unknown[] | undefined): boolean {
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  const isSearching = hasNextPage && !isError && (shown < screenRows || lastPage?.length === 0);
  const isDue = isSearching && !isFetching;
  useEffect(() => {
    if (!isDue) {
      return;
    }
    const goOn = (): void => {
      if (!document.hidden) {
        void fetchNextPage();
      }
    };
    goOn();
    document.addEventListener("visibilitychange", goOn);
    return () => document.removeEventListener("visibilitychange", goOn);
  }, [isDue, fetchNextPage]);
  return isSearching;
}
