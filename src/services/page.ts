// Pages of lists.

const pageSizeDefault = 50;

/** 0 means the default; the contract's rules bound the rest. */
export function pageSize(requested: number): number {
  return requested === 0 ? pageSizeDefault : requested;
}
