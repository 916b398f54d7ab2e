// Pages of lists.

const pageSizeDefault = 50;

/** 0 means the default; the contract's rules bound the rest. */
export function pageSize(requested: number): number {
  return requested === 0 ? pageSizeDefault : requested;
}

/** Token of the page that follows these rows: a short page is the last one. */
export function nextPageToken<Row>(rows: readonly Row[], limit: number, tokenAfter: (last: Row) => string): string {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? "" : tokenAfter(last);
}

/** Token of the page that follows rows of which the store knows whether there are more. */
export function nextTokenOf<Row>(
  { rows, hasMore }: { readonly rows: readonly Row[]; readonly hasMore: boolean },
  tokenAfter: (last: Row) => string,
): string {
  const last = hasMore ? rows.at(-1) : undefined;
  return last === undefined ? "" : tokenAfter(last);
}
