// Reads lists page by page, to their end or up to a maximum.

import { pageSizeMax } from "../platform/base/lists.ts";

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
}

/** The request of a page. */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** Reads up to `itemsMax` items; `isCut` is true when the list goes on. */
export async function readPages<Item>(
  readPage: (request: PageRequest) => Promise<Page<Item>>,
  itemsMax: number,
): Promise<{ readonly items: Item[]; readonly isCut: boolean }> {
  const items: Item[] = [];
  let pageToken = "";
  do {
    // One more than is shown tells whether there are more. After a page with few of them, a large one is the shorter way.
    const page = await readPage({
      pageSize: pageToken === "" ? Math.min(pageSizeMax, itemsMax + 1) : pageSizeMax,
      pageToken,
    });
    items.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && items.length < itemsMax);
  return { items: items.slice(0, itemsMax), isCut: items.length > itemsMax || pageToken !== "" };
}
