// Reads responses of TailRun without decoding them, which would make the client the bottleneck.

/** Counts the results in a TailRunResponse. The message contains only results, each with a tag and a length. */
export function countResults(message: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < message.length; count++) {
    let length = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = message[++at] ?? 0;
      length |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    at += length + 1;
  }
  return count;
}
