// `host@network`: how settings name a host together with the addresses that it may have, such as app.internal@10.0.0.0/8.

import { isIP } from "node:net";

export interface HostNetwork {
  /** As `bareHost` has it. */
  readonly host: string;
  readonly network: string;
  readonly prefix: number;
}

export function parseHostNetwork(text: string): HostNetwork | undefined {
  const [, host = "", network = "", digits = ""] = /^([^@]+)@([0-9a-f.:]+)\/(\d{1,3})$/i.exec(text) ?? [];
  const url = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}/`);
  const prefix = Number(digits);
  const isNetwork = isIP(network) !== 0 && prefix <= (isIP(network) === 4 ? 32 : 128);
  // A port or a path would be read over in silence.
  const isHost = /^[\w.-]+$|^\[?[0-9a-f:.]+\]?$/i.test(host) && (!host.includes(":") || url?.hostname.startsWith("["));
  return url && isNetwork && isHost ? { host: bareHost(url.hostname), network, prefix } : undefined;
}

/** The host of a URL as a plain name or address: without brackets, and without the dot that ends an absolute name. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
