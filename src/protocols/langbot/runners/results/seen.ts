// The numbers that a runner has used, with hashes of the results that it sent with them.
//
// N1  A number counts once.
// N2  Memory is bounded. Beyond the limit only the number after `through` is taken, without its hash.

import { createHash } from "node:crypto";

/** The numbers of one run. */
export class SeenNumbers {
  readonly #numbersMax: number;
  /** Undefined where only the number is known. The same is true of numbers up to `#through` without an entry. */
  readonly #bodies = new Map<number, string | undefined>();
  #through = 0;
  #highest = 0;
  #count = 0;

  constructor(numbersMax: number) {
    this.#numbersMax = numbersMax;
  }

  /** The number up to which all numbers were seen. */
  get through(): number {
    return this.#through;
  }

  get highest(): number {
    return this.#highest;
  }

  /** How many numbers were used. */
  get count(): number {
    return this.#count;
  }

  has(number: number): boolean {
    return number <= this.#through || this.#bodies.has(number);
  }

  /** Whether another body is known for the number. */
  conflicts(number: number, body: string): boolean {
    return (this.#bodies.get(number) ?? body) !== body;
  }

  /** Adds a number that was not seen. Returns false when there is no room for it. */
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

/** Half of a SHA-256: different bodies never share it by accident. One character for each byte. */
const bodyHashBytes = 16;

/** Returns a hash of the parts, which are separated by their lengths. */
export function hashBody(parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    hash.update(`${part.length}:`).update(part);
  }
  return hash.digest().toString("latin1", 0, bodyHashBytes);
}
