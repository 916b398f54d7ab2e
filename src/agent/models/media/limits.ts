// How many images and files one request to a model carries, and how large they are. Beyond these limits a placeholder is sent.

/** Of one image or file. In base64 it has 5 MiB, the smallest limit of the providers. */
export const mediaBytesMax = 3_932_160;
/** Anthropic takes more than 20 images only when they are small. */
export const mediaItemsMax = 20;
/** Of all images and files of one request. In base64 they have 16 MiB; Gemini takes requests of 20 MB. */
export const mediaTotalBytesMax = 12 * 1_048_576;
/** To load one image or file from its URL. */
export const downloadTimeoutMs = 10_000;
/** To load all that one request names: a text replaces those that are late. */
export const downloadsTimeoutMs = 20_000;
