// Caches what the contract says of a method: reading an option costs as much as a small call, and methods never change.

import type { DescMethod } from "@bufbuild/protobuf";

/** Returns the same function, which reads each method only once. */
export function perMethod<T>(read: (method: DescMethod) => T): (method: DescMethod) => T {
  const known = new WeakMap<DescMethod, { readonly value: T }>();
  return (method) => {
    const found = known.get(method);
    if (found !== undefined) {
      return found.value;
    }
    const value = read(method);
    known.set(method, { value });
    return value;
  };
}
