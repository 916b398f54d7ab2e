// The limits of coding agents: what a program may send, and how long it may take.

/** The maximum length of one message. Diffs of whole files are the longest ones. */
export const messageBytesMax = 8_388_608;

/** The number of updates that wait for the log at which the program's output is no longer read. */
export const waitingUpdatesMax = 1_000;

/** The maximum number of requests of a program that wait for an answer. */
export const openRequestsMax = 64;

/** The maximum number of characters that one run may add to its log. */
export const loggedCharsMax = 67_108_864;

/** The maximum number of characters of one message: a reader gets it in one piece. */
export const messageCharsMax = 1_000_000;

/** The maximum characters of one text in a result, such as a side of a diff. */
export const textCharsMax = 65_536;

/** The maximum characters of an error of the agent. */
export const errorCharsMax = 2_000;

/** The time for a program to start and to open a session: some load a whole history. */
export const openTimeoutMs = 120_000;

/** The time in which a cancelled prompt has to end. */
export const cancelGraceMs = 3_000;

/** Enough for the cancelled prompt and for the end of the program. */
export const stopGraceMs = 8_000;

/** The time after which a run that found no free program looks again. */
export const busyRetryMs = 2_000;

/** The default time to decide about a permission, in seconds: that of tool calls. */
export const approvalSecondsDefault = 86_400;
