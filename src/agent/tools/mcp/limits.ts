// The limits of MCP servers. A server is foreign: each of its answers is bounded before anything reads it.

/** The maximum number of tools of one server. A model chooses badly among more, and providers refuse them. */
export const toolsMax = 128;
/** The maximum number of pages of one list. */
export const pagesMax = 64;
/** The maximum size of a tool's schema, as for other tools. */
export const schemaBytesMax = 262_144;
/** The maximum length of a description. Every request to the model repeats it. */
export const descriptionCharsMax = 16_384;
/** The maximum size of all lists of a run: its checkpoint holds them. */
export const listsBytesMax = 1_048_576;
/** The maximum number of lists that a replica keeps for later runs. */
export const listsKeptMax = 128;
/** The maximum time that a list is kept. */
export const listKeptMsMax = 3_600_000;
/** The maximum size of one answer on the wire, such as a result with images. */
export const answerBytesMax = 10 * 1_048_576;
/** The maximum size of the one stream of an old server, which lasts as long as the run. */
export const streamBytesMax = 64 * 1_048_576;
/** The maximum size of all images and recordings of one result, in base64: a log entry may have little more. */
export const mediaCharsMax = 2 * 1_048_576;
/** The time to connect, and to get the head of an answer that is not a call's. */
export const connectTimeoutMs = 15_000;
/** The time to list the tools, all pages. */
export const listTimeoutMs = 30_000;
/** The time to end a session with a server. */
export const closeTimeoutMs = 2_000;
/** The default times of a call. */
export const callTimes = { totalMs: 120_000, idleMs: 60_000 } as const;
/** The maximum length of the id of a task, which is in the database. */
export const taskIdCharsMax = 1_024;
/** The time between two looks at a task: what its server wants, within these limits. */
export const pollIntervalMs = { min: 100, default: 1_000, max: 10_000 } as const;
/** The time of one look at a task. */
export const pollTimeoutMs = 15_000;
/** The shortest time between two reports of one call in the log. */
export const progressIntervalMs = 1_000;
/** The maximum length of what a report says. */
export const progressCharsMax = 1_024;
/** The maximum size of the schema of a form, and the maximum length of its message. A person reads both. */
export const formSchemaBytesMax = 16_384;
export const formMessageCharsMax = 8_192;
/** The maximum number of forms of one call. Each is an entry of the log. */
export const formsMax = 32;
/** The maximum length of an error, which the model reads. */
export const errorCharsMax = 2_000;
