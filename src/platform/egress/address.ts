// Decides which addresses may be dialled for which host.
//
// A1  By default: public addresses only.
// A2  Where private networks are allowed: also private and loopback addresses. All reserved addresses stay refused, and so do the
//     platform addresses at which clouds hand out metadata and secrets.
// A3  An exception is a host together with a network. It covers neither the host's sub-domains nor other addresses.

import { BlockList, isIP } from "node:net";
import { bareHost, parseHostNetwork } from "../config/host-network.ts";
import { isPublicAddress } from "./public-address.ts";
import { listNetworks } from "./special-networks.ts";

/** The rules for the hosts that clients name. */
export interface AddressPolicy {
  /**
   * Returns true when the address may be dialled for the host. `host` is in the form of `bareHost`. Any text but an IPv4 or
   * IPv6 address is refused.
   */
  isAllowed(host: string, address: string): boolean;
  /** Returns true for a name that by definition means this machine, unless calls to it are allowed. */
  isForbiddenName(host: string): boolean;
}

/** Options of the policy. */
export interface AddressPolicyOptions {
  readonly allowsPrivate: boolean;
  /** Exceptions in the form `host@network`. */
  readonly exceptions: readonly string[];
}

/** Returns the policy of the settings. Throws when an exception is invalid. */
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
        (isPrivateAllowed && !platformNetworks.check(address, family)) ||
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
  // A zone names an interface of this machine; clients may reach no address behind it.
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

const privateNetworks = listNetworks(([, , use]) => use === "private");
const platformNetworks = listNetworks(([, , use]) => use === "platform");
