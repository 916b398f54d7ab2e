// What the operator lets agents call: functions of contracts, each named. Nothing is allowed by default.

export interface AllowedContract {
  readonly address: string;
  readonly functions: readonly string[];
}

/** Each item of `decisions.tx.allow`: `0xaddress:function`. */
export function readAllowed(items: readonly string[]): readonly AllowedContract[] {
  return items.map((item) => {
    const at = item.indexOf(":");
    return { address: item.slice(0, at), functions: [item.slice(at + 1)] };
  });
}

export function isAllowed(allowed: readonly AllowedContract[], address: string, functionName: string): boolean {
  return allowed.some((each) => isSameAddress(each.address, address) && each.functions.includes(functionName));
}

/** Upper and lower case are a checksum, not another address. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
