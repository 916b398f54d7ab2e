// Tracks how many images and files, and how many bytes of them, still fit into one request to a model.

import { mediaBytesMax, mediaItemsMax, mediaTotalBytesMax } from "./limits.ts";

/** The remaining room of one request. It starts at the maximums of `limits.ts`. */
export class Room {
  #items = mediaItemsMax;
  #bytes = mediaTotalBytesMax;

  get bytesMax(): number {
    return Math.min(mediaBytesMax, this.#bytes);
  }

  take(sizeBytes: number): void {
    this.#items -= 1;
    this.#bytes -= sizeBytes;
  }

  /** Returns why an image or file of this size does not fit, or undefined when it fits. */
  whyFull(sizeBytes: number): string | undefined {
    if (this.#items <= 0) {
      return `left out: a request carries at most ${mediaItemsMax} images and files, the newest ones`;
    }
    if (sizeBytes > mediaBytesMax) {
      return `left out: an image or file may have at most ${print(mediaBytesMax)} bytes`;
    }
    return sizeBytes > this.#bytes
      ? `left out: a request carries at most ${print(mediaTotalBytesMax)} bytes of images and files, the newest ones`
      : undefined;
  }
}

function print(bytes: number): string {
  return bytes.toLocaleString("en-US");
}
