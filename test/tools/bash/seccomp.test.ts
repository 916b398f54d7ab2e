// The filter of system calls as bytes, run by an interpreter: for other machines, and for calls that a command cannot make on
// purpose. The tests of the jail show that the kernel accepts the filter and agrees.

import { describe, expect, test } from "vitest";
import { type Machine, seccompFilter } from "../../../src/agent/tools/bash/seccomp.ts";

const archX64 = 0xc000_003e;
const archArm64 = 0xc000_00b7;
const archI386 = 0x4000_0003;
const archArm = 0x4000_0028;

const verdicts = new Map([
  [0x7fff_0000, "allow"],
  [0x8000_0000, "kill"],
  [0x0005_0001, "EPERM"],
  [0x0005_0026, "ENOSYS"],
  [0x0005_005f, "EOPNOTSUPP"],
  [0x0005_0061, "EAFNOSUPPORT"],
]);

/** The kernel's answer to a call with these arguments. */
function judge(filter: Buffer, arch: number, call: number, ...args: number[]): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) {
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * index);
  }
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [code, yes, no] = [filter.readUInt16LE(at), filter.readUInt8(at + 2), filter.readUInt8(at + 3)];
    const k = filter.readUInt32LE(at + 4);
    const jump = (passes: boolean): void => {
      at += 8 * (passes ? yes : no);
    };
    if (code === 0x06) {
      return verdicts.get(k) ?? `0x${k.toString(16)}`;
    }
    if (code === 0x20) {
      loaded = data.readUInt32LE(k);
    } else if (code === 0x15) {
      jump(loaded === k);
    } else if (code === 0x25) {
      jump(loaded > k);
    } else if (code === 0x35) {
      jump(loaded >= k);
    } else if (code === 0x45) {
      jump((loaded & k) !== 0);
    } else {
      throw new Error(`unknown code ${code}`);
    }
  }
  throw new Error("the filter does not end");
}

const machines = [
  {
    machine: "x64",
    arch: archX64,
    others: [archI386, archArm64],
    // read, openat, execve, fork, getpid, wait4, futex, clone of a thread, fork by clone
    allowed: [[0], [257], [59], [57], [39], [61], [202], [56, 0x3d_0f00], [56, 0x0120_0011]],
    socket: 41,
    ioctl: 16,
    clone: 56,
    refused: { ptrace: 101, mount: 165, unshare: 272, keyctl: 250, bpf: 321, setns: 308, userfaultfd: 323, iopl: 172 },
    fallocate: 285,
  },
  {
    machine: "arm64",
    arch: archArm64,
    others: [archArm, archX64],
    allowed: [[63], [56], [221], [172], [260], [98], [220, 0x3d_0f00], [220, 0x0120_0011]],
    socket: 198,
    ioctl: 29,
    clone: 220,
    refused: { ptrace: 117, mount: 40, unshare: 97, keyctl: 219, bpf: 280, setns: 268, userfaultfd: 282 },
    fallocate: 47,
  },
] as const satisfies readonly ({ machine: Machine } & Record<string, unknown>)[];

describe.each(machines)(
  "on $machine",
  ({ machine, arch, others, allowed, socket, ioctl, clone, refused, fallocate }) => {
    const filter = seccompFilter(machine);
    const ask = (call: number, ...args: number[]): string => judge(filter, arch, call, ...args);

    test("ordinary calls pass", () => {
      expect(allowed.map(([call, ...args]) => ask(call, ...args))).toEqual(allowed.map(() => "allow"));
    });

    test("calls that reach past namespaces are refused", () => {
      const answers = Object.entries(refused).map(([name, call]) => [name, ask(call)]);
      expect(answers).toEqual(Object.keys(refused).map((name) => [name, "EPERM"]));
      // The same numbers on every machine: io_uring, the new mount calls, pidfd_getfd.
      for (const call of [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 467]) {
        expect(ask(call)).toBe("EPERM");
      }
      expect([ask(435), ask(fallocate)]).toEqual(["ENOSYS", "EOPNOTSUPP"]);
    });

    test("only local sockets and those of the jail's own network are allowed", () => {
      expect([1, 2, 10].map((family) => ask(socket, family, 1, 0))).toEqual(["allow", "allow", "allow"]);
      // Netlink, packets, AF_ALG, vsock, XDP, and an unknown family.
      for (const family of [0, 16, 17, 38, 40, 44, 1_000]) {
        expect([ask(socket, family), ask(socket + 1 === 42 ? 53 : 199, family)]).toEqual([
          "EAFNOSUPPORT",
          "EAFNOSUPPORT",
        ]);
      }
      // The kernel reads a family from the low half alone.
      expect(ask(socket, 2 ** 32 + 40)).toBe("EAFNOSUPPORT");
    });

    test("input cannot be injected into a terminal, with any upper half of the request", () => {
      expect([ask(ioctl, 0, 0x5401), ask(ioctl, 0, 0x5412), ask(ioctl, 0, 2 ** 32 + 0x5412)]).toEqual([
        "allow",
        "EPERM",
        "EPERM",
      ]);
    });

    test("no process gets namespaces of its own", () => {
      for (const flag of [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000]) {
        expect(ask(clone, flag | 17)).toBe("EPERM");
      }
    });

    test("unknown calls do not exist", () => {
      expect([ask(469), ask(470), ask(0x3fff_ffff), ask(0xffff_ffff)]).toEqual(["allow", "ENOSYS", "ENOSYS", "ENOSYS"]);
      expect(ask(0x4000_0000 + 39)).toBe("ENOSYS");
    });

    test("programs for another machine are killed", () => {
      expect(others.map((other) => judge(filter, other, allowed[0][0]))).toEqual(["kill", "kill"]);
    });

    test("the filter fits the kernel's maximum", () => {
      expect(filter.length % 8).toBe(0);
      expect(filter.length / 8).toBeLessThan(4_096);
    });
  },
);
