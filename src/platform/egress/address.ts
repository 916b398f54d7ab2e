// Which addresses may be dialled for which host.
//
// A1  Without a setting: public addresses, and no others.
// A2  Where private networks are allowed: theirs and loopback as well, but never what is nobody's host, and no address that
//     clouds hand out secrets at.
// A3  An exception is a host and a network together, and holds for neither its sub-domains nor other addresses.

import { BlockList, isIP } from "node:net";
import { bareHost, parseHostNetwork } from "../config/host-network.ts";
import { isPublicAddress } from "./public-address.ts";

export interface AddressPolicy {
  /** `host` as `bareHost` has it. Anything but an address of IPv4 or IPv6 is refused. */
  isAllowed(host: string, address: string): boolean;
  /** True for a name whose own meaning is this machine, unless calls to it are wanted. */
  isForbiddenName(host: string): boolean;
}

export interface AddressPolicyOptions {
  readonly allowsPrivate: boolean;
  /** Each as `host@network`. */
  readonly exceptions: readonly string[];
}

export function createAddressPolicy({ allowsPrivate, exceptions }: AddressPolicyOptions): AddressPolicy {
  const networksByHost = readExceptions(exceptions);
  return {
    isAllowed: (host, address) => {
      const family = familyOf(address);
      if (family === undefined) {
        return false;
      }
      const isPrivateAllowed = allowsPrivate && privateNetworks.check(address, family);
      return (
        isPublicAddress(address) === true ||
        (isPrivateAllowed && !metadata.check(address, family)) ||
        networksByHost.get(bareHost(host))?.check(address, family) === true
      );
    },
    isForbiddenName: (host) => !allowsPrivate && !networksByHost.has(host) && isLocalName(host),
  };
}

function readExceptions(texts: readonly string[]): ReadonlyMap<string, BlockList> {
  const networksByHost = new Map<string, BlockList>();
  for (const text of texts) {
    const exception = parseHostNetwork(text);
    if (exception === undefined) {
      throw new Error(`no host@network: ${text}`);
    }
    const { host, network, prefix } = exception;
    const networks = networksByHost.get(host) ?? new BlockList();
    networks.addSubnet(network, prefix, isIP(network) === 4 ? "ipv4" : "ipv6");
    networksByHost.set(host, networks);
  }
  return networksByHost;
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  // A zone names an interface of this machine; nothing that a caller may reach lies behind one.
  if (address.includes("%")) {
    return undefined;
  }
  const family = isIP(address);
  return family === 0 ? undefined : family === 4 ? "ipv4" : "ipv6";
}

function isLocalName(host: string): boolean {
  return localNames.has(host) || host.endsWith(".localhost");
}

const localNames: ReadonlySet<string> = new Set([
  "localhost",
  "localhost.localdomain",
  "localhost4",
  "localhost6",
  "ip6-localhost",
  "ip6-loopback",
]);

/** What an address of IPv4 means when it is mapped into IPv6, Node looks up here as well. */
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  privateNetworks.addSubnet(network, prefix, "ipv4");
}
privateNetworks.addAddress("::1", "ipv6");
privateNetworks.addSubnet("fc00::", 7, "ipv6");

/** Those inside of private networks; the usual one is link-local and so never allowed. */
const metadata = new BlockList();
metadata.addAddress("100.100.100.200", "ipv4");
metadata.addAddress("fd00:ec2::254", "ipv6");
