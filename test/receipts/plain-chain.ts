// The hash chain of a run's log, written as its definition without regard to speed; tests compare the real one with it.

import { createHash } from "node:crypto";

const entriesPerBlock = 64;

/** Returns the value after all of these entries. */
export function plainChainValue(runId: string, entries: readonly Uint8Array[]): Buffer {
  let head = sha256([Buffer.from(`runnel.run-log.v1\n${runId}`, "utf8")]);
  for (let first = 0; first < entries.length; first += entriesPerBlock) {
    head = sha256([head, ...entries.slice(first, first + entriesPerBlock).map(frame)]);
  }
  return head;
}

function frame(bytes: Uint8Array): Buffer {
  const length: number[] = [];
  for (let left = bytes.length; ; left = Math.floor(left / 128)) {
    if (left < 128) {
      return Buffer.concat([Buffer.from([...length, left]), bytes]);
    }
    length.push((left % 128) + 128);
  }
}

function sha256(parts: readonly Uint8Array[]): Buffer {
  return createHash("sha256").update(Buffer.concat(parts)).digest();
}
