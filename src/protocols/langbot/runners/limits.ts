// Limits of runs that runners take: how large what they keep with their host may be, in bytes and characters, whether a result
// or a call brings it, and for how long others wait for their workers.

/** Of the JSON text of a state's value as it was received, without the blanks around it. */
export const stateValueBytesMax = 262_144;
/** Of keys of state and storage, in characters: what the protocol's own host keeps. */
export const keyCharsMax = 255;
/** Of a storage's value. */
export const storageValueBytesMax = 10 * 1_048_576;
/** Of what goes to or comes from a storage or an artifact at a time: clients refuse messages of more than 4 MiB. */
export const pieceBytesMax = 1_048_576;

/** The run is its worker's for so long after each report. */
export const workerLeaseMs = 30_000;
/** For a last word of a runner that was told to stop. */
export const cancelGraceMs = 10_000;
/** Of one message of a runner that is dialled. */
export const messageBytesMax = 4 * 1_048_576;
/** All results of one report together, in characters of their texts. */
export const reportCharsMax = 3 * 1_048_576;
