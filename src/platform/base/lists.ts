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
