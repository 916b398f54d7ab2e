// Reads the options that an agent has for single providers.

import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { invalidField } from "../../platform/base/fault.ts";
import { isObject, parseBoundedObject } from "../../platform/base/json/parse-object.ts";
import { providerNames } from "../models/providers.ts";

/** The options by the name of the provider. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Returns the options of an agent; undefined for none.
 * @throws Fault INVALID_ARGUMENT when they are not objects by the names of providers.
 */
export function providerOptionsOf({ providerOptions }: Agent): ProviderOptions | undefined {
  if (providerOptions === "") {
    return undefined;
  }
  const options = parseBoundedObject(providerOptions);
  const isKnown = Object.entries(options ?? {}).every(
    ([name, value]) => providerNames.some((each) => each === name) && isObject(value),
  );
  if (options === undefined || !isKnown) {
    throw invalidField(
      "agent.provider_options",
      `must be a JSON object of objects, by ${providerNames.join(", ")}, in at most 100 levels`,
    );
  }
  return options as ProviderOptions;
}
