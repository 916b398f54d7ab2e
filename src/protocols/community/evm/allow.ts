// The allow-list of the operator: the functions of contracts that agents may call. Nothing is allowed by default.

/** A contract and its allowed functions. */
export interface AllowedContract {
  readonly address: string;
  readonly functions: readonly string[];
}

/** Reads the items of `decisions.tx.allow`, each `0xaddress:function`. */
export function readAllowed(items: readonly string[]): readonly AllowedContract[] {
  return items.map((item) => {
    const at = item.indexOf(":");
    return { address: item.slice(0, at), functions: [item.slice(at + 1)] };
  });
}

/** Returns true when the allow-list has this function of this address. */
export function isAllowed(allowed: readonly AllowedContract[], address: string, functionName: string): boolean {
  return allowed.some((each) => isSameAddress(each.address, address) && each.functions.includes(functionName));
}

/** Compares addresses without case: mixed case is only a checksum. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
