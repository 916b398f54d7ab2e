// The arguments of one call, joined from their pieces.
//
// T1  Nothing follows a whole object, so a piece that begins another one replaces it: some servers send all arguments again at their
//     end, and some begin with `{}`.
// T2  A piece with all of the pieces before it, and more, replaces them: some servers send the arguments so far in each piece.
// T3  All other pieces are kept as they are written.

/** Collects the pieces of one call's arguments. */
export class CallText {
  #text = "";
  #depth = 0;
  /** Undefined until the first piece that is not blank. */
  #isObject: boolean | undefined;
  #isInString = false;
  #isEscaped = false;

  /** The arguments so far. */
  get text(): string {
    return this.#text;
  }

  /** Whether the arguments so far are an object that has ended. */
  get isWhole(): boolean {
    return this.#isObject === true && this.#depth === 0;
  }

  /** Adds a piece. */
  add(piece: string): void {
    if (this.#isReplacedBy(piece)) {
      this.#text = "";
      this.#depth = 0;
      this.#isInString = false;
      this.#isEscaped = false;
    }
    this.#text += piece;
    if (this.#isObject === undefined && piece.trim() !== "") {
      this.#isObject = opening.test(piece);
    }
    if (this.#isObject === true) {
      this.#follow(piece);
    }
  }

  #isReplacedBy(piece: string): boolean {
    const isMore = this.#isObject === true && piece.length > this.#text.length && piece.startsWith(this.#text);
    return isMore || (this.isWhole && opening.test(piece));
  }

  /** Reads each character once, so the work is linear. */
  #follow(piece: string): void {
    for (const character of piece) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
      } else if (this.#isInString) {
        this.#isEscaped = character === "\\";
        this.#isInString = character !== '"';
      } else if (character === '"') {
        this.#isInString = true;
      } else if (character === "{") {
        this.#depth += 1;
      } else if (character === "}") {
        this.#depth -= 1;
      }
    }
  }
}

const opening = /^\s*\{/;
