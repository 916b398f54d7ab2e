// The limits on images and files in one request to a model. A placeholder replaces each item beyond them.

/** The maximum size of one image or file. In base64 it is 5 MiB, the smallest limit of the providers. */
export const mediaBytesMax = 3_932_160;
/** The maximum number of images and files. Anthropic accepts more than 20 images only when they are small. */
export const mediaItemsMax = 20;
/** The maximum total size of images and files. In base64 it is 16 MiB; Gemini accepts requests of 20 MB. */
export const mediaTotalBytesMax = 12 * 1_048_576;
/** The timeout for one image or file. */
export const downloadTimeoutMs = 10_000;
/** The timeout for all downloads of one request. A text replaces the ones that are late. */
export const downloadsTimeoutMs = 20_000;
