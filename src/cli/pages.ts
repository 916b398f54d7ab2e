// Lists that come page by page, read to their end or to as much as anybody reads.

const pageSizeMax = 250;

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
}

export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** Stops once there are `itemsMax`. */
export async function readPages<Item>(
  readPage: (request: PageRequest) => Promise<Page<Item>>,
  itemsMax: number,
): Promise<{ readonly items: Item[]; readonly isCut: boolean }> {
  const items: Item[] = [];
  let pageToken = "";
  do {
    // One more than is shown tells whether there are more.
    const page = await readPage({ pageSize: Math.min(pageSizeMax, itemsMax + 1), pageToken });
    items.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && items.length <= itemsMax);
  return { items: items.slice(0, itemsMax), isCut: items.length > itemsMax };
}
