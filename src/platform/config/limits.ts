// Sizes of what comes in, in bytes.

/** Generated clients refuse larger messages by default, so larger ones help nobody. */
export const messageBytesMax = 4 * 1_048_576;
