// The error of an invalid receipt.

/** Says in one sentence why a text is not a valid receipt. */
export class ReceiptFault extends Error {
  override readonly name = "ReceiptFault";
}
