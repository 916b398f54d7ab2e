// Classifies IP addresses as public or reserved. Reserved addresses belong to private networks, often our own. Uses Node's
// BlockList: ipaddr.js names ranges, but treats every unnamed range as public.

import { BlockList, isIP } from "node:net";

/** Returns true for a public address, and undefined for a text that is no address, such as a name. */
export function isPublicAddress(text: string): boolean | undefined {
  switch (isIP(text)) {
    case 4:
      return !reserved.check(text, "ipv4");
    case 6:
      // Only this part of IPv6 is assigned. Mapped and unspecified addresses are outside it.
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
