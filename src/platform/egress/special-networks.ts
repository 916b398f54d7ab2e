// The networks that are not the public internet, with one reason each. Sources: the IANA IPv4 and IPv6 Special-Purpose Address
// Registries of 2025-10-09, the IANA IPv6 address space, and the documents of clouds as of November 2026. A block of a registry
// is one row, with all that the registry assigns within it. Metadata addresses have a row only where no reserved network
// contains them: the usual one, 169.254.169.254, is link-local.

import { BlockList, isIP } from "node:net";

/**
 * Who may be called there. `reserved`: no host. `private`: hosts of the operator's own networks, when they are allowed.
 * `platform`: services of a cloud for its machines, which may hand out secrets; also within private networks.
 */
export type NetworkUse = "reserved" | "private" | "platform";

/** Network, prefix length, use and reason. */
export type SpecialNetwork = readonly [network: string, prefix: number, use: NetworkUse, reason: string];

export const specialNetworks: readonly SpecialNetwork[] = [
  ["0.0.0.0", 8, "reserved", "this network: Linux connects 0.0.0.0 to itself"],
  ["10.0.0.0", 8, "private", "private use"],
  ["100.64.0.0", 10, "private", "shared address space of carriers, used by overlay networks"],
  ["100.100.100.200", 32, "platform", "metadata of Alibaba Cloud"],
  ["127.0.0.0", 8, "private", "loopback"],
  ["161.26.0.0", 16, "platform", "services of IBM Cloud for its machines"],
  ["166.8.0.0", 14, "platform", "private endpoints of IBM Cloud"],
  ["168.63.129.16", 32, "platform", "platform address of Azure, with the settings and keys of its machines"],
  ["169.254.0.0", 16, "reserved", "link-local: metadata and credentials of most clouds"],
  ["172.16.0.0", 12, "private", "private use"],
  ["192.0.0.0", 24, "reserved", "protocol assignments, and metadata of Oracle Cloud Classic at 192.0.0.192"],
  ["192.0.2.0", 24, "reserved", "documentation"],
  ["192.31.196.0", 24, "reserved", "AS112: sinks of DNS"],
  ["192.52.193.0", 24, "reserved", "multicast relays (AMT)"],
  ["192.88.99.0", 24, "reserved", "relays of 6to4"],
  ["192.168.0.0", 16, "private", "private use"],
  ["192.175.48.0", 24, "reserved", "AS112: sinks of DNS"],
  ["198.18.0.0", 15, "reserved", "benchmarks of devices"],
  ["198.51.100.0", 24, "reserved", "documentation"],
  ["203.0.113.0", 24, "reserved", "documentation"],
  ["224.0.0.0", 4, "reserved", "multicast"],
  ["240.0.0.0", 4, "reserved", "not assigned, and the broadcast address"],

  // A form that contains an IPv4 address reaches that address, or a relay that we do not know. No public host needs one.
  ["::", 96, "reserved", "unspecified, and IPv4-compatible addresses"],
  ["::1", 128, "private", "loopback"],
  ["::ffff:0:0", 96, "reserved", "IPv4-mapped addresses"],
  ["::ffff:0:0:0", 96, "reserved", "IPv4-translated addresses"],
  ["64:ff9b::", 96, "reserved", "NAT64"],
  ["64:ff9b:1::", 48, "reserved", "NAT64 of local networks"],
  ["100::", 64, "reserved", "packets to be discarded"],
  ["100:0:0:1::", 64, "reserved", "dummy addresses"],
  ["2001::", 23, "reserved", "protocol assignments: Teredo, benchmarks, ORCHID, anycast services"],
  ["2001:db8::", 32, "reserved", "documentation"],
  ["2002::", 16, "reserved", "6to4"],
  ["2620:4f:8000::", 48, "reserved", "AS112: sinks of DNS"],
  ["3fff::", 20, "reserved", "documentation"],
  ["5f00::", 16, "reserved", "segment routing (SRv6)"],
  ["fc00::", 7, "private", "unique local addresses"],
  ["fd00:42::42", 128, "platform", "metadata of Scaleway"],
  ["fd00:100::100:200", 128, "platform", "metadata of Alibaba Cloud"],
  ["fd00:a9fe:a9fe::1", 128, "platform", "metadata of Akamai"],
  ["fd00:c1::a9fe:a9fe", 128, "platform", "metadata of Oracle Cloud"],
  ["fd00:ec2::", 32, "platform", "services of AWS for its machines: metadata, credentials, DNS, time"],
  ["fd20:ce::254", 128, "platform", "metadata of Google Cloud"],
  ["fe80::", 10, "reserved", "link-local"],
  ["fec0::", 10, "reserved", "site-local"],
  ["ff00::", 8, "reserved", "multicast"],
  // Of IPv6, IANA assigns hosts of the internet only in 2000::/3.
  ["::", 3, "reserved", "outside 2000::/3"],
  ["4000::", 2, "reserved", "outside 2000::/3"],
  ["8000::", 1, "reserved", "outside 2000::/3"],
];

/**
 * Returns a list of the networks that `isListed` selects. A list of Node also applies IPv4 networks to IPv4-mapped addresses,
 * and networks of IPv4-mapped addresses to IPv4 addresses.
 */
export function listNetworks(isListed: (row: SpecialNetwork) => boolean): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of specialNetworks.filter(isListed)) {
    list.addSubnet(network, prefix, isIP(network) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
