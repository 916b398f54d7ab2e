// Reads the ids of runners.

import { InvalidArgumentError } from "commander";

/** Splits an id such as `plugin:author/name/runner` into the parts of the contract. Throws an `InvalidArgumentError`. */
export function readRunnerId(text: string): { author: string; name: string; runner: string } {
  const [, author, name, runner] = /^plugin:([^/]+)\/([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (author === undefined || name === undefined || runner === undefined) {
    throw new InvalidArgumentError("expected plugin:author/name/runner");
  }
  return { author, name, runner };
}
