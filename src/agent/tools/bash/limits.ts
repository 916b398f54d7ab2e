// The limits of one command. The Agent Runner document sets the first three; the kernel enforces them from inside.

const mebibyte = 1_048_576;

/** Limits in the units of `ulimit`: counts, and KiB for sizes. No core dumps, which would hold memory in the work directory. */
export const shellLimits = "ulimit -c 0 -n 256 -f 10240 -v 524288";

/**
 * The limits of a program that serves. Node reserves gigabytes of addresses that it never uses; the watchdog limits the memory that it
 * does use.
 */
export const servedLimits = "ulimit -c 0 -n 1024 -f 10240 -v 16777216";

/**
 * The maximum number of processes in a jail. Without a jail, the kernel also counts the user's other processes and threads,
 * such as the service and its Postgres.
 */
export const processesMax = 64;

/** Contract: the timeout in seconds that a call may ask for, and the default. */
export const timeoutSecs = { least: 1, most: 300, fallback: 120 } as const;

/** Contract: the maximum length of a command line in bytes. A longer one is refused. */
export const commandBytesMax = 4_096;

/** The limit that a command was killed for: its timeout, the end of its run, or a limit of the watchdog outside. */
export type KillLimit = "time" | "run_end" | WatchedLimit;

/** The limits of the watchdog. `disk` is what the command wrote; `disk_free` is what it left for others. */
export type WatchedLimit = "processes" | "memory" | "disk" | "disk_free";

/** The maximum resident memory of all processes of a command. The kernel's own limit is per process. */
export const memoryBytesMax = 1_024 * mebibyte;

/** The size of /tmp. It is in memory and deleted after the command. */
export const tempBytes = 64 * mebibyte;
/** The size of /dev/shm. It is in memory and deleted after the command. */
export const sharedMemoryBytes = 16 * mebibyte;

/** The free space that a file system keeps, even when a command may still write more: others need it, above all Postgres. */
export const freeBytesMin = 256 * mebibyte;

/** The amount that a command may still write in a full work directory, so that it can tidy up. */
export const writtenBytesLeast = mebibyte;

/** The interval of the watchdog. A fast disk writes some 150 MB in that time. */
export const watchIntervalMs = 100;

/** The shorter interval where the kernel does not limit processes, which can double many times in a tenth of a second. */
export const rootWatchIntervalMs = 25;
