// Loads every page of a list, for what only the whole list can answer.

import { useEffect } from "react";

/** The page says so to a client with more. */
const pagesMax = 8;
const pageSize = 250;

/** The first page of a list, as large as the contract allows. */
export const firstPage = { pageSize, pageToken: "" } as const;

interface Pages {
  readonly data: { readonly pages: readonly unknown[] } | undefined;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isError: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
}

/** Loads page after page, up to the last one or the maximum. */
export function useAllPages({ data, hasNextPage, isFetching, isError, fetchNextPage }: Pages): void {
  const isWanted = hasNextPage && !isFetching && !isError && (data?.pages.length ?? 0) < pagesMax;
  useEffect(() => {
    if (isWanted) {
      void fetchNextPage();
    }
  }, [isWanted, fetchNextPage]);
}
