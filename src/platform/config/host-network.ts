// Parses `host@network`: a host in the settings together with its allowed addresses, such as app.internal@10.0.0.0/8.

import { isIP } from "node:net";

/** A host and the network of its addresses. */
export interface HostNetwork {
  /** In the form that `bareHost` returns. */
  readonly host: string;
  readonly network: string;
  readonly prefix: number;
}

/** Parses a text such as `app.internal@10.0.0.0/8`. Returns undefined when it is invalid. */
export function parseHostNetwork(text: string): HostNetwork | undefined {
  const [, host = "", network = "", digits = ""] = /^([^@]+)@([0-9a-f.:]+)\/(\d{1,3})$/i.exec(text) ?? [];
  const url = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}/`);
  const prefix = Number(digits);
  const isNetwork = isIP(network) !== 0 && prefix <= (isIP(network) === 4 ? 32 : 128);
  // The URL parser would silently drop a port or a path.
  const isHost = /^[\w.-]+$|^\[?[0-9a-f:.]+\]?$/i.test(host) && (!host.includes(":") || url?.hostname.startsWith("["));
  return url && isNetwork && isHost ? { host: bareHost(url.hostname), network, prefix } : undefined;
}

/** Returns the host of a URL as a plain name or address: without brackets, and without the final dot of an absolute name. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
