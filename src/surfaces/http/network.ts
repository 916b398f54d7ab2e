// Addresses and networks of peers, as rate limits and logs use them.

import type { Socket } from "node:net";

/**
 * Returns the peer's address without port. An IPv4-mapped IPv6 address gives the IPv4 address: `::ffff:10.0.0.1` gives
 * `10.0.0.1`. Empty when the peer has left.
 */
export function addressOf({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
}

/**
 * Returns the network of an address: an IPv4 address itself, or the first 64 bits of an IPv6 address. The owner of an IPv6
 * address has all 2^64 addresses of that network.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) {
    return address;
  }
  const [head = "", tail] = address.replace(/%.*/, "").split("::", 2);
  const heads = head === "" ? [] : head.split(":");
  const tails = tail === undefined || tail === "" ? [] : tail.split(":");
  const zerosCount = tail === undefined ? 0 : Math.max(0, groupsOfAddress - heads.length - tails.length);
  return [...heads, ...Array<string>(zerosCount).fill("0"), ...tails].slice(0, groupsOfAddress / 2).join(":");
}

const groupsOfAddress = 8;
