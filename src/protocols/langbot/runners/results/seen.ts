// The numbers that a runner has used, and what it sent with them.
//
// N1  A number counts once.
// N2  What is kept is bounded: beyond the limit only the number that follows all others is taken, and nothing about it.

import { createHash } from "node:crypto";

/** Of one run. */
export class SeenNumbers {
  readonly #numbersMax: number;
  /** Undefined where only the number is known. Those up to `#through` without an entry are known no better. */
  readonly #bodies = new Map<number, string | undefined>();
  #through = 0;
  #highest = 0;
  #count = 0;

  constructor(numbersMax: number) {
    this.#numbersMax = numbersMax;
  }

  /** Every number up to this one was seen. */
  get through(): number {
    return this.#through;
  }

  get highest(): number {
    return this.#highest;
  }

  /** How many numbers there were. */
  get count(): number {
    return this.#count;
  }

  has(number: number): boolean {
    return number <= this.#through || this.#bodies.has(number);
  }

  /** Whether another body than this one is known for the number. */
  conflicts(number: number, body: string): boolean {
    return (this.#bodies.get(number) ?? body) !== body;
  }

  /** False when there is no room for it. It must not have been seen. */
  add(number: number, body: string | undefined): boolean {
    const isFull = this.#count >= this.#numbersMax;
    if (isFull && number !== this.#through + 1) {
      return false;
    }
    if (!isFull) {
      this.#bodies.set(number, body);
    }
    this.#count += 1;
    this.#highest = Math.max(this.#highest, number);
    this.#advance(number);
    return true;
  }

  #advance(number: number): void {
    if (number === this.#through + 1) {
      do {
        this.#through += 1;
      } while (this.#bodies.has(this.#through + 1));
    }
  }
}

/** Half of a SHA-256: two bodies that differ by accident never share it. One character a byte. */
const bodyHashBytes = 16;

/** Stands for what was sent. The parts are told apart by their lengths. */
export function hashBody(parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    hash.update(`${part.length}:`).update(part);
  }
  return hash.digest().toString("latin1", 0, bodyHashBytes);
}
