// The parameters of an address.

/** Returns the parameters with one of them changed. An empty value removes it. */
export function withParameter(current: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(current);
  if (value === "") {
    next.delete(name);
  } else {
    next.set(name, value);
  }
  return next;
}
