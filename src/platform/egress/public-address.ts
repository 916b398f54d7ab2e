// Which IP addresses belong to the public internet. Everything else is somebody's inside, often our own. Node's BlockList does the
// arithmetic; ipaddr.js names ranges, but takes all that it does not name for public.

import { BlockList, isIP } from "node:net";

/** Undefined for what is no address at all, such as a name. */
export function isPublicAddress(text: string): boolean | undefined {
  switch (isIP(text)) {
    case 4:
      return !reserved.check(text, "ipv4");
    case 6:
      // Of IPv6 only this part is handed out; mapped and unspecified addresses lie outside of it.
      return globalUnicast.check(text, "ipv6") && !reserved.check(text, "ipv6");
    default:
      return undefined;
  }
}

const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

const reserved = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  reserved.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  // Teredo and 6to4 wrap IPv4 addresses; documentation addresses lead nowhere.
  ["2001::", 32],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  reserved.addSubnet(network, prefix, "ipv6");
}
