// Lists that the service answers in pages.

/** The options of a query whose next page follows from the token of the last one. */
export const inPages = {
  pageParamKey: "pageToken",
  getNextPageParam: (last: { readonly nextPageToken: string }) => last.nextPageToken || undefined,
} as const;
