// Ids of runners, as they are typed.

import { InvalidArgumentError } from "commander";

/** In the parts that the contract's calls want. */
export function readRunnerId(text: string): { author: string; name: string; runner: string } {
  const [, author, name, runner] = /^plugin:([^/]+)\/([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (author === undefined || name === undefined || runner === undefined) {
    throw new InvalidArgumentError("expected plugin:author/name/runner");
  }
  return { author, name, runner };
}
