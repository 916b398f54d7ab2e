// Maximum sizes of requests, in bytes.

/** The maximum size of a message. Generated clients refuse larger ones by default. */
export const messageBytesMax = 4 * 1_048_576;
