// The seccomp filter: system calls that commands may not make. Namespaces hide files, processes and the network; this filter
// blocks the ways around them. Everything else is allowed, so that programs work as in a normal shell.

import {
  answer,
  architecture,
  argument,
  assemble,
  callNumber,
  equals,
  hasAnyOf,
  type Instruction,
  isAbove,
  isAtLeast,
  load,
  unless,
  when,
} from "./bpf.ts";

/** The machines that have a filter, by their names in Node. */
export type Machine = "x64" | "arm64";

/** Returns whether there is a filter for the machine. */
export function hasFilter(machine: string): machine is Machine {
  return machine in machines;
}

/** Returns the filter of a machine, ready for the kernel. */
export function seccompFilter(machine: Machine): Buffer {
  const { audit, column } = machines[machine];
  return assemble([
    ...load(architecture),
    // The numbers below have other meanings in programs for other architectures, including 32-bit ones.
    ...unless(equals(audit), answer(kill)),
    ...load(callNumber),
    // x32 has the same calls under numbers with this bit set.
    ...(machine === "x64" ? when(isAtLeast(0x4000_0000), answer(refuse(errno.ENOSYS))) : []),
    // Later calls have not been reviewed.
    ...when(isAbove(newestKnown), answer(refuse(errno.ENOSYS))),
    ...Object.values(refusedCalls)
      .map((numbers) => numbers[column])
      .filter((number) => number !== none)
      .flatMap((number) => when(equals(number), answer(refuse(errno.EPERM)))),
    ...checkedCalls(column),
    ...answer(allow),
  ]);
}

const machines = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
} as const satisfies Record<Machine, { audit: number; column: 0 | 1 }>;

const allow = 0x7fff_0000;
const kill = 0x8000_0000;

function refuse(error: number): number {
  return 0x0005_0000 | error;
}

const errno = { EPERM: 1, ENOSYS: 38, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 } as const;

/** `file_setattr` of Linux 6.17. From 424 on, the numbers are the same on all machines. */
const newestKnown = 469;

/** Marks a call that does not exist on the machine. */
const none = -1;

/** The call numbers on x86-64 and on arm64. */
const refusedCalls = {
  // Mounts (old and new API), namespaces, roots.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  swapon: [167, 224],
  swapoff: [168, 225],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  acct: [163, 89],
  // Files by handle, which bypass the directories.
  name_to_handle_at: [303, none],
  open_by_handle_at: [304, none],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  // Memory and descriptors of other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  userfaultfd: [323, 282],
  memfd_secret: [447, 447],
  // Large kernel subsystems that commands do not need and that have had many vulnerabilities.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // The machine itself.
  reboot: [169, 142],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  personality: [135, 92],
  nfsservctl: [180, 42],
  // Only on x86.
  modify_ldt: [154, none],
  iopl: [172, none],
  ioperm: [173, none],
  uselib: [134, none],
  ustat: [136, none],
  sysfs: [139, none],
  _sysctl: [156, none],
} as const satisfies Record<string, readonly [number, number]>;

/** Calls that are refused only for some arguments, or with another error. */
const partlyRefused = {
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  clone: [56, 220],
  clone3: [435, 435],
  fallocate: [285, 47],
} as const satisfies Record<string, readonly [number, number]>;

/** AF_UNIX, AF_INET and AF_INET6. These see only the jail's own namespace; AF_VSOCK, AF_ALG and others do not. */
const families = [1, 2, 10];

/** TIOCSTI types into a terminal; TIOCLINUX pastes into the console. */
const terminalRequests = [0x5412, 0x541c];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const namespaceFlags = 0x7e02_0000;

function checkedCalls(column: 0 | 1): Instruction[] {
  const onCall = (name: keyof typeof partlyRefused, body: readonly Instruction[]): Instruction[] =>
    when(equals(partlyRefused[name][column]), body);
  const otherFamily = [
    ...load(argument(0)),
    ...families.flatMap((family) => when(equals(family), answer(allow))),
    ...answer(refuse(errno.EAFNOSUPPORT)),
  ];
  return [
    ...onCall("socket", otherFamily),
    ...onCall("socketpair", otherFamily),
    ...onCall("ioctl", [
      ...load(argument(1)),
      ...terminalRequests.flatMap((request) => when(equals(request), answer(refuse(errno.EPERM)))),
      ...answer(allow),
    ]),
    ...onCall("clone", [
      ...load(argument(0)),
      ...when(hasAnyOf(namespaceFlags), answer(refuse(errno.EPERM))),
      ...answer(allow),
    ]),
    // Its flags are in memory, which a filter cannot read. The C library falls back to clone.
    ...onCall("clone3", answer(refuse(errno.ENOSYS))),
    // Allocates disk space without writing, which the write counters miss. Programs fall back to writing.
    ...onCall("fallocate", answer(refuse(errno.EOPNOTSUPP))),
  ];
}
