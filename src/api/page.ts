// Page sizes and page tokens of lists.

const pageSizeDefault = 50;

/** Returns the requested page size, or 50 for 0. The contract's rules limit the value. */
export function pageSize(requested: number): number {
  return requested === 0 ? pageSizeDefault : requested;
}

/** Returns the token of the next page, or an empty one after the last page: a page shorter than `limit` is the last. */
export function nextPageToken<Row>(rows: readonly Row[], limit: number, tokenAfter: (last: Row) => string): string {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? "" : tokenAfter(last);
}

/** Returns the token of the next page when the store reports whether more rows follow. Empty after the last page. */
export function nextTokenOf<Row>(
  { rows, hasMore }: { readonly rows: readonly Row[]; readonly hasMore: boolean },
  tokenAfter: (last: Row) => string,
): string {
  const last = hasMore ? rows.at(-1) : undefined;
  return last === undefined ? "" : tokenAfter(last);
}
