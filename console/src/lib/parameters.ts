// The parameters of an address: what a view shows, so that a link and a reload show the same.

import { useSearchParams } from "wouter";

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

/** Returns the value of a parameter, empty without one, and the function that changes it. */
export function useParameter(name: string): readonly [value: string, change: (value: string) => void] {
  const [parameters, setParameters] = useSearchParams();
  const change = (value: string): void =>
    setParameters((current) => withParameter(current, name, value), { replace: true });
  return [parameters.get(name) ?? "", change];
}
