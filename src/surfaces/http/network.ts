// Where a connection comes from, as limits and logs count it.

import type { Socket } from "node:net";

/** The peer's address without port; an IPv4 address that comes by IPv6 is the IPv4 one. Empty when the peer has left. */
export function addressOf({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Whoever has an IPv6 address has the 2^64 that share its first half. */
export function networkOf(address: string): string {
  if (!address.includes(":")) {
    return address;
  }
  const [head = "", tail] = address.replace(/%.*$/, "").split("::", 2);
  const heads = head === "" ? [] : head.split(":");
  const tails = tail === undefined || tail === "" ? [] : tail.split(":");
  const zerosCount = tail === undefined ? 0 : Math.max(0, groupsOfAddress - heads.length - tails.length);
  return [...heads, ...Array<string>(zerosCount).fill("0"), ...tails].slice(0, groupsOfAddress / 2).join(":");
}

const groupsOfAddress = 8;
