// Maximum sizes of requests, in bytes.

/** The maximum size of a message. Generated clients refuse larger ones by default. */
export const messageBytesMax = 4 * 1_048_576;

/** The maximum size of a body from a caller without credentials: their calls have texts of a few thousand characters. */
export const publicBodyBytesMax = 1_048_576;

/**
 * The maximum size of a message in a stream of requests. Such messages are read one by one and not weighed. Those of the contract
 * are names.
 */
export const streamedMessageBytesMax = 8_192;
