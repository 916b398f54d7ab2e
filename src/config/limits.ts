// Sizes of what comes in, in bytes.

/** Generated clients refuse larger messages by default, so larger ones help nobody. */
export const messageBytesMax = 4 * 1_048_576;
/** The Agent Runner document's limit of a body. */
export const restBodyBytesMax = 10 * 1_048_576;
