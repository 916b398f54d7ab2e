// Texts that grow by pieces.

/** Engines keep a text that grows as a tree of its pieces, which takes five times the memory. So many pieces may be loose. */
const loosePiecesMax = 1_000;
/** To join the pieces copies the text, so a longer text has more of them. */
const charsPerLoosePiece = 1_000;

/** Appends pieces to texts, and joins what engines keep apart. */
export class GrowingText {
  #loosePieces = 0;

  append(text: string, piece: string): string {
    const longer = text + piece;
    this.#loosePieces += 1;
    if (this.#loosePieces > loosePiecesMax + longer.length / charsPerLoosePiece) {
      this.#loosePieces = 0;
      // To search a text joins its pieces.
      longer.search(/^/);
    }
    return longer;
  }
}
