// Classifies IP addresses as public or special. Special addresses belong to private networks, often our own, to platforms, or to
// no host. Uses Node's BlockList: ipaddr.js names ranges, but treats every unnamed range as public.

import { isIP } from "node:net";
import { listNetworks } from "./special-networks.ts";

/** Returns true for a public address, and undefined for a text that is no address, such as a name. */
export function isPublicAddress(text: string): boolean | undefined {
  switch (isIP(text)) {
    case 4:
      return !specialIpv4.check(text, "ipv4");
    case 6:
      return !specialIpv6.check(text, "ipv6");
    default:
      return undefined;
  }
}

// One list for each family: in a common one, the row of IPv4-mapped addresses would contain every IPv4 address.
const specialIpv4 = listNetworks(([network]) => isIP(network) === 4);
const specialIpv6 = listNetworks(([network]) => isIP(network) === 6);
