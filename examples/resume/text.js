// text.js
export class Text {
  #pieces = [];

  add(sequence, piece) {
    this.#pieces.push({ sequence, piece });
  }

  voidFrom(sequence) {
    this.#pieces = this.#pieces.filter((each) => each.sequence < sequence);
  }

  toString() {
    return this.#pieces.map(({ piece }) => piece).join("");
  }
}
