// Why a text is no receipt: one sentence for whoever wants to check it.

export class ReceiptFault extends Error {
  override readonly name = "ReceiptFault";
}
