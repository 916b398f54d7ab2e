// Addresses as rate limits count them, and addresses that a caller may name because they are public.

import { describe, expect, test } from "vitest";
import { isPublicAddress } from "../../src/platform/egress/public-address.ts";
import { networkOf } from "../../src/surfaces/http/network.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2:ffff::1", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
])("%s belongs to the network %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

describe("an address from a caller", () => {
  test.each([
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "100.128.0.1",
    "168.63.129.15",
    "2001:200::1",
    "2606:4700::1111",
    "2a00::1",
  ])("%s is public", (text) => {
    expect(isPublicAddress(text)).toBe(true);
  });

  test.each([
    "0.0.0.0",
    "0.255.255.255",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "161.26.0.10",
    "166.11.255.255",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.175.48.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::8.8.8.8",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "64:ff9b::1",
    "64:ff9b:1::1",
    "100::1",
    "100:0:0:1::1",
    "2001::1",
    "2001:2::1",
    "2001:20::1",
    "2001:1ff:ffff::1",
    "2001:db8::1",
    "2002:808:808::1",
    "2620:4f:8000::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
  ])("%s is not public", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  test("a name is not an address", () => {
    expect(isPublicAddress("example.com")).toBeUndefined();
  });
});
