// Every network that is not the public internet, at its edges and in every spelling, by arithmetic of its own.

import { isIP } from "node:net";
import { describe, expect, test } from "vitest";
import { createAddressPolicy } from "../../src/platform/egress/address.ts";
import { isPublicAddress } from "../../src/platform/egress/public-address.ts";
import { specialNetworks } from "../../src/platform/egress/special-networks.ts";
import { openEgress } from "./internet.ts";

/** Where clouds serve metadata, credentials and the settings of their machines, by their documents. */
const platformAddresses = {
  "Akamai, IPv6": "fd00:a9fe:a9fe::1",
  "Alibaba Cloud": "100.100.100.200",
  "Alibaba Cloud, IPv6": "fd00:100::100:200",
  "AWS, DNS": "169.254.169.253",
  "AWS, IPv6": "fd00:ec2::254",
  "AWS, IPv6, pods": "fd00:ec2::23",
  "AWS, pods": "169.254.170.23",
  "AWS, tasks": "169.254.170.2",
  "AWS, time": "169.254.169.123",
  "AWS, Azure, DigitalOcean, Google Cloud, Hetzner, OpenStack, Oracle Cloud, Vultr": "169.254.169.254",
  Azure: "168.63.129.16",
  "Google Cloud, IPv6": "fd20:ce::254",
  "IBM Cloud, private endpoints": "166.9.0.1",
  "IBM Cloud, services": "161.26.0.10",
  "OpenStack, IPv6": "fe80::a9fe:a9fe",
  "Oracle Cloud Classic": "192.0.0.192",
  "Oracle Cloud, IPv6": "fd00:c1::a9fe:a9fe",
  Scaleway: "169.254.42.42",
  "Scaleway, IPv6": "fd00:42::42",
  "Tencent Cloud": "169.254.0.23",
};

const strict = createAddressPolicy({ allowsPrivate: false, exceptions: [] });
const open = createAddressPolicy({ allowsPrivate: true, exceptions: [] });

describe("the table", () => {
  test.each(specialNetworks)("%s/%i, %s: %s", (network, prefix) => {
    const bits = isIP(network) === 4 ? 32 : 128;
    const first = toNumber(network);
    const last = first + 2n ** BigInt(bits - prefix) - 1n;
    expect(first % (last - first + 1n)).toBe(0n);
    const edges = [first - 1n, first, last, last + 1n].filter((each) => each >= 0n && each < 2n ** BigInt(bits));
    for (const address of edges.map((each) => toText(each, bits))) {
      const uses = usesOf(address, bits);
      const isOpened = uses.includes("private") && !uses.includes("platform");
      for (const spelling of spellingsOf(address)) {
        expect(isPublicAddress(spelling), spelling).toBe(uses.length === 0);
        expect(strict.isAllowed("app.example", spelling), spelling).toBe(uses.length === 0);
        expect(open.isAllowed("app.example", spelling), spelling).toBe(uses.length === 0 || isOpened);
      }
      for (const spelling of mappingsOf(address)) {
        expect(isPublicAddress(spelling), spelling).toBe(false);
        expect(open.isAllowed("app.example", spelling), spelling).toBe(isOpened);
      }
    }
  });

  test("has each network once, with a reason", () => {
    const networks = specialNetworks.map(([network, prefix]) => `${network}/${prefix}`);
    expect(new Set(networks).size).toBe(networks.length);
    expect(specialNetworks.filter(([, , , reason]) => reason === "")).toEqual([]);
  });
});

describe("a platform address is never called, also where private networks are allowed", () => {
  test.each(Object.entries(platformAddresses))("%s: %s", (_, address) => {
    const isIpv4 = isIP(address) === 4;
    for (const spelling of [...spellingsOf(address), ...mappingsOf(address), ...(isIpv4 ? wrappingsOf(address) : [])]) {
      expect(isPublicAddress(spelling), spelling).toBe(false);
      expect(open.isAllowed("app.example", spelling), spelling).toBe(false);
    }
    const egress = openEgress({ allowsPrivate: true });
    for (const host of isIpv4 ? urlHostsOf(address) : [`[${address}]`, `[${address.toUpperCase()}]`]) {
      expect(egress.findProblem(`http://${host}/`), host).toBe("private IP callbacks are not allowed");
    }
  });
});

function usesOf(address: string, bits: number): readonly string[] {
  const number = toNumber(address);
  return specialNetworks
    .filter(([network, prefix]) => {
      const hostBits = BigInt(bits - prefix);
      return isIP(network) === isIP(address) && number >> hostBits === toNumber(network) >> hostBits;
    })
    .map(([, , use]) => use);
}

/** The spellings of an address that Node reads as this address. */
function spellingsOf(address: string): readonly string[] {
  if (isIP(address) === 4) {
    return [address];
  }
  const groups = groupsOf(address);
  const padded = groups.map((group) => group.padStart(4, "0"));
  const dotted = `${groups.slice(0, 6).join(":")}:${toText(toNumber(address) % 2n ** 32n, 32)}`;
  const shortest = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  return [groups.join(":"), padded.join(":"), padded.join(":").toUpperCase(), dotted, shortest];
}

/** The spellings of an IPv4 address that is mapped into IPv6. */
function mappingsOf(address: string): readonly string[] {
  return isIP(address) === 4 ? spellingsOf(toText(toNumber("::ffff:0:0") + toNumber(address), 128)) : [];
}

/** The other IPv6 forms that contain an IPv4 address: compatible, translated, NAT64, 6to4, Teredo. */
function wrappingsOf(address: string): readonly string[] {
  const number = toNumber(address);
  return [
    toNumber("::") + number,
    toNumber("::ffff:0:0:0") + number,
    toNumber("64:ff9b::") + number,
    toNumber("64:ff9b:1::") + number,
    toNumber("2002::") + (number << 80n) + 1n,
    toNumber("2001::") + (number << 64n),
    toNumber("2001::") + (number ^ 0xffff_ffffn),
  ].flatMap((each) => spellingsOf(toText(each, 128)));
}

/** The spellings of an IPv4 address that a URL may have. */
function urlHostsOf(address: string): readonly string[] {
  const number = toNumber(address);
  const bytes = address.split(".").map(Number);
  return [
    address,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    bytes.map((byte) => `0x${byte.toString(16)}`).join("."),
    bytes.map((byte) => `0${byte.toString(8)}`).join("."),
    `${bytes[0]}.${number % 2n ** 24n}`,
    `${address}.`,
    `[::ffff:${address}]`,
  ];
}

function toNumber(address: string): bigint {
  return isIP(address) === 4
    ? address.split(".").reduce((number, byte) => number * 256n + BigInt(byte), 0n)
    : groupsOf(address).reduce((number, group) => number * 65_536n + BigInt(`0x${group}`), 0n);
}

function toText(number: bigint, bits: number): string {
  return bits === 32
    ? [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join(".")
    : Array.from({ length: 8 }, (_, at) => ((number >> BigInt(112 - 16 * at)) & 65_535n).toString(16)).join(":");
}

/** The eight groups of an IPv6 address in hexadecimal. */
function groupsOf(address: string): readonly string[] {
  const [head = "", tail] = address.split("::");
  const read = (text: string): readonly string[] => (text === "" ? [] : text.split(":"));
  const zeros = Array<string>(tail === undefined ? 0 : 8 - read(head).length - read(tail).length).fill("0");
  return [...read(head), ...zeros, ...read(tail ?? "")];
}
