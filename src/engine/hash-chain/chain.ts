// The hash chain of a run's log. Entries are taken in blocks, because a hash for each would cost more than the rest of writing it:
//
//   B(0)   = SHA-256("runnel.run-log.v1\n" ‖ run id in lower case)
//   B(k+1) = SHA-256(B(k) ‖ frame(64k + 1) ‖ … ‖ frame(64k + 64)),  frame(e) = varint(length of e) ‖ stored bytes of e
//   value after n entries = B(n / 64), or SHA-256(B(k) ‖ frames of the block that is begun)
//
// C1  The value depends on the run, the stored bytes and their order; not on how they came in batches, nor on who resumed it.
// C2  What a chain holds in memory is bounded, however large the entries are.

import { createHash, type Hash, hash } from "node:crypto";

const domain = "runnel.run-log.v1\n";
export const entriesPerBlock = 64;
export const hashBytes = 32;
/** Enough for most blocks of text; what grows beyond `heldBytesMax` is hashed before its block is whole. */
const heldBytesAtFirst = 4_096;
const heldBytesMax = 65_536;
const varintBytesMax = 5;

export interface ChainEntry {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** The end of a block: all that is needed to go on from it. */
export interface BlockEnd {
  /** The last entry that it covers. */
  readonly sequence: number;
  readonly head: Uint8Array;
}

/** A log with a hole in it: it has no chain. */
export class ChainGap extends Error {
  override readonly name = "ChainGap";
}

/** The chain of a log without entries. */
export function startOfChain(runId: string): BlockEnd {
  return { sequence: 0, head: hash("sha256", domain + runId.toLowerCase(), "buffer") };
}

export class LogChain {
  #lastBlock: BlockEnd;
  #count: number;
  /** What the block that is begun starts with and holds, except for what was hashed already. */
  #held: Buffer;
  #heldBytes = 0;
  /** Only while a block is larger than what may be held. */
  #running: Hash | undefined;

  /** Goes on after a block. */
  constructor(from: BlockEnd) {
    this.#lastBlock = from;
    this.#count = from.sequence;
    this.#held = Buffer.allocUnsafeSlow(heldBytesAtFirst);
    this.#startBlock();
  }

  /** How many entries the value covers, which is the sequence of the last one. */
  get count(): number {
    return this.#count;
  }

  /** Nobody changes it. */
  get lastBlock(): BlockEnd {
    return this.#lastBlock;
  }

  get value(): Uint8Array {
    return this.#count === this.#lastBlock.sequence ? this.#lastBlock.head : digest(this.#running?.copy(), this.#block);
  }

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

  /** Another chain that has these entries too. */
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

/** The hash of what was hashed before, if anything was, and the rest. Hashing all at once is quicker. */
function digest(running: Hash | undefined, rest: Buffer): Uint8Array {
  return running === undefined ? hash("sha256", rest, "buffer") : running.update(rest).digest();
}

/** As protobuf writes lengths. Returns where it ends. */
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
