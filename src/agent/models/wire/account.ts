// One account at one provider: where it is, what it is called with, and the pool of sockets to it.

import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { createTransport, type Transport } from "./transport.ts";

export interface Account {
  /** As in `provider:model`; appears in the texts of failures. */
  readonly name: string;
  /** A trailing slash does not matter. */
  readonly baseUrl: string;
  /** Empty for servers that want none. */
  readonly apiKey: string;
  readonly clock: Clock;
}

export interface OpenAccount {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly transport: Transport;
}

export function openAccount({ name, baseUrl, clock }: Account): OpenAccount {
  const url = parseBaseUrl(name, baseUrl);
  return {
    baseUrl: url.href.replace(/\/+$/, ""),
    transport: createTransport({ provider: name, baseUrl: url, clock }),
  };
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
