// The results of tools that a provider runs itself, as the log keeps them.

import type { ProviderOutcome } from "../model.ts";
import { fitJson } from "./members.ts";

/** The maximum size of an item that is its own result. An image in base64 has megabytes, which the log does not keep. */
export const outcomeBytesMax = 256 * 1024;

/** The maximum size of a result beside its call. Documents that a provider has read have hundreds of kilobytes. */
export const resultBytesMax = 1024 * 1024;

/** The outcome of a call whose result never came. */
export const noResult: ProviderOutcome = { error: "the provider sent no result" };

/** The maximum length of the words of an error. They may quote all of a result. */
const errorCharsMax = 65_536;

/** Returns the outcome of a call that failed. */
export function failedOutcome(error: string): ProviderOutcome {
  return { error: error.slice(0, errorCharsMax).toWellFormed() };
}

/** Returns the outcome of an item that is its own result, without its largest members when it is too large. */
export function outcomeOfItem(json: string | undefined): ProviderOutcome {
  return json === undefined
    ? { error: "the result of the provider cannot be read" }
    : outcomeOfResult(json, outcomeBytesMax);
}

/** Returns the outcome of a result, without its largest members or elements when it is too large. */
export function outcomeOfResult(json: string, bytesMax = resultBytesMax): ProviderOutcome {
  const fitted = fitJson(json, bytesMax);
  return fitted === undefined ? { error: `the result is larger than ${bytesMax} bytes` } : { json: fitted };
}
