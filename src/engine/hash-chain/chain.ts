// The hash chain of a run's log. Entries are hashed in blocks: a hash for each entry would cost more than the rest of writing
// it.
//
//   B(0)   = SHA-256("runnel.run-log.v1\n" ‖ run id in lower case)
//   B(k+1) = SHA-256(B(k) ‖ frame(64k + 1) ‖ … ‖ frame(64k + 64)),  frame(e) = varint(length of e) ‖ stored bytes of e
//   value after n entries = B(n / 64), or SHA-256(B(k) ‖ frames of the unfinished block)
//
// C1  The value depends on the run, the stored bytes and their order. It does not depend on batches or on takeovers.
// C2  The memory of a chain is bounded, however large the entries are.

import { createHash, type Hash, hash } from "node:crypto";

const domain = "runnel.run-log.v1\n";
/** Entries in a block. */
export const entriesPerBlock = 64;
/** Bytes of a hash. */
export const hashBytes = 32;
/**
 * The first size of the buffer, enough for most blocks of text. A block larger than `heldBytesMax` is hashed before it is
 * whole.
 */
const heldBytesAtFirst = 4_096;
const heldBytesMax = 65_536;
const varintBytesMax = 5;

/** An entry as the chain needs it. */
export interface ChainEntry {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** The end of a block: all that a chain needs to continue from it. */
export interface BlockEnd {
  /** The last entry that it covers. */
  readonly sequence: number;
  readonly head: Uint8Array;
}

/** Thrown for a log with missing entries: it has no chain. */
export class ChainGap extends Error {
  override readonly name = "ChainGap";
}

/** Returns the start of a run's chain: the chain of a log without entries. */
export function startOfChain(runId: string): BlockEnd {
  return { sequence: 0, head: hash("sha256", domain + runId.toLowerCase(), "buffer") };
}

/** The hash chain of one run, entry by entry. */
export class LogChain {
  #lastBlock: BlockEnd;
  #count: number;
  /** The bytes of the unfinished block: its start and frames, except the ones already hashed. */
  #held: Buffer;
  #heldBytes = 0;
  /** Set only while a block is larger than the buffer may be. */
  #running: Hash | undefined;

  /** Continues after a block. */
  constructor(from: BlockEnd) {
    this.#lastBlock = from;
    this.#count = from.sequence;
    this.#held = Buffer.allocUnsafeSlow(heldBytesAtFirst);
    this.#startBlock();
  }

  /** The number of entries that the value covers, which is the sequence of the last one. */
  get count(): number {
    return this.#count;
  }

  /** The end of the last whole block. Do not change it. */
  get lastBlock(): BlockEnd {
    return this.#lastBlock;
  }

  /** The hash over all entries so far. */
  get value(): Uint8Array {
    return this.#count === this.#lastBlock.sequence ? this.#lastBlock.head : digest(this.#running?.copy(), this.#block);
  }

  /**
   * Adds entries in order.
   * @throws ChainGap when an entry does not follow the last one.
   */
  add(entries: readonly ChainEntry[]): void {
    for (const { sequence, bytes } of entries) {
      if (sequence !== this.#count + 1) {
        throw new ChainGap(`entry ${sequence} does not follow entry ${this.#count}`);
      }
      this.#hold(bytes);
      this.#count = sequence;
      if (sequence % entriesPerBlock === 0) {
        this.#lastBlock = { sequence, head: digest(this.#running, this.#block) };
        this.#startBlock();
      }
    }
  }

  /** Returns another chain with these entries added. */
  with(entries: readonly ChainEntry[]): LogChain {
    const other = new LogChain(this.#lastBlock);
    other.#count = this.#count;
    other.#held = Buffer.allocUnsafeSlow(this.#held.length);
    other.#heldBytes = this.#heldBytes;
    this.#block.copy(other.#held);
    other.#running = this.#running?.copy();
    other.add(entries);
    return other;
  }

  get #block(): Buffer {
    return this.#held.subarray(0, this.#heldBytes);
  }

  #startBlock(): void {
    this.#running = undefined;
    this.#held.set(this.#lastBlock.head);
    this.#heldBytes = hashBytes;
  }

  #hold(bytes: Uint8Array): void {
    const frameBytesMax = varintBytesMax + bytes.length;
    if (this.#heldBytes + frameBytesMax > this.#held.length) {
      this.#makeRoom(frameBytesMax);
    }
    this.#heldBytes = writeVarint(this.#held, bytes.length, this.#heldBytes);
    if (frameBytesMax > heldBytesMax) {
      this.#hashHeld();
      this.#running?.update(bytes);
      return;
    }
    this.#held.set(bytes, this.#heldBytes);
    this.#heldBytes += bytes.length;
  }

  #makeRoom(frameBytes: number): void {
    const neededBytes = this.#heldBytes + frameBytes;
    if (neededBytes > heldBytesMax) {
      this.#hashHeld();
    }
    if (this.#held.length < Math.min(neededBytes, heldBytesMax)) {
      const larger = Buffer.allocUnsafeSlow(Math.min(heldBytesMax, 2 ** Math.ceil(Math.log2(neededBytes))));
      this.#block.copy(larger);
      this.#held = larger;
    }
  }

  #hashHeld(): void {
    this.#running ??= createHash("sha256");
    this.#running.update(this.#block);
    this.#heldBytes = 0;
  }
}

/** Returns the hash of the bytes hashed before, if any, and the rest. Hashing all at once is faster. */
function digest(running: Hash | undefined, rest: Buffer): Uint8Array {
  return running === undefined ? hash("sha256", rest, "buffer") : running.update(rest).digest();
}

/** Writes a varint as protobuf does. Returns the position after it. */
function writeVarint(target: Buffer, value: number, start: number): number {
  let at = start;
  let left = value;
  while (left > 0x7f) {
    target[at++] = (left & 0x7f) | 0x80;
    left >>>= 7;
  }
  target[at++] = left;
  return at;
}
