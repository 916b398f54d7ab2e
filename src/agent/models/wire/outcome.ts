// The results of tools that a provider runs itself, as the log keeps them.

import type { ProviderOutcome } from "../model.ts";
import { fitObject } from "./members.ts";

/** The maximum size of an item that is its own result. The log keeps it, and an image in base64 has megabytes. */
export const outcomeBytesMax = 256 * 1024;

/** The outcome of a call whose result never came. */
export const noResult: ProviderOutcome = { error: "the provider sent no result" };

/** Returns the outcome of an item that is its own result, without its largest members when it is too large. */
export function outcomeOfItem(json: string | undefined): ProviderOutcome {
  return json === undefined
    ? { error: "the result of the provider cannot be read" }
    : { json: fitObject(json, outcomeBytesMax) };
}
