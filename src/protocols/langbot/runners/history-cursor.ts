// Cursors of a run's history: good for this run, this conversation and this call alone.

/** What a cursor is bound to, as `Cursors` wants it. Its position is the number of an item. */
export function historyCursorScope(runId: string, conversation: Uint8Array): readonly string[] {
  return ["history", runId, Buffer.from(conversation).toString("hex")];
}
