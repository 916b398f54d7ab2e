// Reads whole lists of the contract.

/** The maximum size of a page of the contract's lists. */
export const pageSizeMax = 250;

/** Returns the items of all pages of a list of the contract. */
export async function readPages<T>(
  read: (pageToken: string) => Promise<{ readonly items: readonly T[]; readonly nextPageToken: string }>,
): Promise<T[]> {
  const all: T[] = [];
  let pageToken = "";
  do {
    const { items, nextPageToken } = await read(pageToken);
    all.push(...items);
    pageToken = nextPageToken;
  } while (pageToken !== "");
  return all;
}

/** Returns the first page that has an item, or the last one: a page of a list with filters may be empty while the list goes on. */
export async function firstFilledPage<Page extends { readonly nextPageToken: string }>(
  first: string,
  read: (pageToken: string) => Promise<Page>,
  itemsOf: (page: Page) => readonly unknown[],
): Promise<Page> {
  let page = await read(first);
  while (itemsOf(page).length === 0 && page.nextPageToken !== "") {
    page = await read(page.nextPageToken);
  }
  return page;
}
