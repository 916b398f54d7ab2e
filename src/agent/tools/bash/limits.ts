// What one command may use. The first three are the Agent Runner document's; the kernel enforces them from inside.

const mebibyte = 1_048_576;

/** In the units of `ulimit`: processes, and KiB for sizes. No core, so that no memory lands in the work directory. */
export const shellLimits = "ulimit -c 0 -n 256 -f 10240 -v 524288";

/** Only in a jail: elsewhere the kernel counts all that the user has, the threads of the service and its Postgres included. */
export const processesMax = 64;

/** Contract: seconds that a call may ask for, and gets if it does not ask. */
export const timeoutSecs = { least: 1, most: 300, fallback: 120 } as const;

/** Contract: a command line that is longer is refused. */
export const commandBytesMax = 4_096;

/** What a command is killed for: its time, the end of its run, or what a watch from outside has found. */
export type KillLimit = "time" | "run_end" | WatchedLimit;

/** `disk` is what the command has written, `disk_free` what it left for others. */
export type WatchedLimit = "processes" | "memory" | "disk" | "disk_free";

/** Resident memory of all processes of a command: the kernel's own limit is per process. */
export const memoryBytesMax = 1_024 * mebibyte;

/** Room in /tmp and /dev/shm, which is memory, and is gone after the command. */
export const tempBytes = 64 * mebibyte;
export const sharedMemoryBytes = 16 * mebibyte;

/** What a file system keeps free, whatever a command still may write: others need it too, Postgres above all. */
export const freeBytesMin = 256 * mebibyte;

/** A command in a full work directory may still write this much, so that it can tidy up. */
export const writtenBytesLeast = mebibyte;

/** What a command has taken is looked at this often. A fast disk takes some 150 MB in that time. */
export const watchIntervalMs = 100;

/** Instead, where the kernel does not count processes: these double many times in a tenth of a second. */
export const rootWatchIntervalMs = 25;
