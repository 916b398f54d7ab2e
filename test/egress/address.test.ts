// Which addresses a host may have: public ones, those of its exception, and private ones if they are allowed.

import { expect, test } from "vitest";
import { createAddressPolicy } from "../../src/platform/egress/address.ts";

const exceptions = ["allowed.internal@10.1.2.0/24", "allowed.internal@fd00:1::/64", "127.0.0.1@127.0.0.1/32"];

test("an exception covers a host within its network, and none of its subdomains", () => {
  const policy = createAddressPolicy({ allowsPrivate: false, exceptions });
  const allowed = [
    ["allowed.internal", "10.1.2.3"],
    ["allowed.internal", "::ffff:10.1.2.3"],
    ["allowed.internal", "fd00:1::5"],
    ["allowed.internal", "203.0.114.1"],
    ["127.0.0.1", "127.0.0.1"],
  ] as const;
  const refused = [
    ["allowed.internal", "10.1.3.3"],
    ["allowed.internal", "127.0.0.1"],
    ["db.allowed.internal", "10.1.2.3"],
    ["127.0.0.1", "10.1.2.3"],
    ["app.example", "10.1.2.3"],
    ["app.example", "::ffff:203.0.114.1"],
    ["app.example", "64:ff9b::cb00:7201"],
    ["app.example", "2606:4700::1111%eth0"],
    ["app.example", "app.example"],
    ["app.example", ""],
  ] as const;
  expect(allowed.filter(([host, address]) => !policy.isAllowed(host, address))).toEqual([]);
  expect(refused.filter(([host, address]) => policy.isAllowed(host, address))).toEqual([]);
  expect(policy.isForbiddenName("localhost")).toBe(true);
});

test("with private networks allowed, metadata addresses of clouds and unspecified addresses stay refused", () => {
  const policy = createAddressPolicy({ allowsPrivate: true, exceptions: [] });
  const allowed = [
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "127.0.0.1",
    "100.64.0.1",
    "::1",
    "fd00::1",
    "::ffff:10.0.0.1",
  ];
  const refused = [
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "100.100.100.200",
    "fd00:ec2::254",
    "0.0.0.0",
    "::",
    "224.0.0.1",
  ];
  expect(allowed.filter((address) => !policy.isAllowed("app.example", address))).toEqual([]);
  expect(refused.filter((address) => policy.isAllowed("app.example", address))).toEqual([]);
  expect(policy.isForbiddenName("localhost")).toBe(false);
});

test.each([
  "app.internal",
  "app.internal@",
  "@10.0.0.0/8",
  "a@b@10.0.0.0/8",
  "a@10.0.0.0/33",
  "a@::/129",
  "a:80@10.0.0.0/8",
  "a/b@10.0.0.0/8",
])("%s is not a valid exception", (text) => {
  expect(() => createAddressPolicy({ allowsPrivate: false, exceptions: [text] })).toThrow("no host@network");
});
