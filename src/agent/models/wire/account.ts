// One account at one provider: its base URL, its key and its socket pool.

import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { Model } from "../model.ts";
import { createTransport, type Transport } from "./transport.ts";

/** An open account at a provider. */
export interface ModelProvider {
  /** Returns the model of this name. Never fails: only the provider knows its models. */
  model(name: string): Model;
  /** Ends the active responses as failures and closes the socket pool. */
  close(): void;
}

/** The settings of an account. */
export interface Account {
  /** The provider's name, as in `provider:model`; it appears in failure messages. */
  readonly name: string;
  /** The base URL. A trailing slash is ignored. */
  readonly baseUrl: string;
  /** Empty for servers that need no key. */
  readonly apiKey: string;
  readonly clock: Clock;
}

/**
 * Opens an account, to send requests to it.
 * @throws Fault CONFIG_INVALID when the base URL is not an http or https URL.
 */
export function openAccount({ name, baseUrl, clock }: Account): Transport {
  return createTransport({ provider: name, baseUrl: parseBaseUrl(name, baseUrl), clock });
}

/** Returns the header of a key that is sent as a bearer token; an empty key is not sent. */
export function bearerHeaders(apiKey: string): Record<string, string> {
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}

function parseBaseUrl(name: string, baseUrl: string): URL {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Fault(
      "CONFIG_INVALID",
      `base URL of provider ${name} is "${baseUrl}": give an http or https URL such as https://api.openai.com/v1`,
    );
  }
  return url;
}
