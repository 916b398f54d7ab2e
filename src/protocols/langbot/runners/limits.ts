// Limits of runs of runners: the sizes of stored data, in bytes and characters, and the timeouts of their workers. The sizes
// are the same for results and for calls.

/** The maximum bytes of a state's value: its JSON text as received, without surrounding white space. */
export const stateValueBytesMax = 262_144;
/** The maximum bytes of a storage's value. */
export const storageValueBytesMax = 10 * 1_048_576;
/** The maximum bytes of one piece of a storage or an artifact: clients refuse messages of more than 4 MiB. */
export const pieceBytesMax = 1_048_576;

/** How long a worker keeps its run after each report. */
export const workerLeaseMs = 30_000;
/** The time for the last result of a runner that has to stop. */
export const cancelGraceMs = 10_000;
/** The maximum characters of all results of one report. */
export const reportCharsMax = 3 * 1_048_576;
