// Cursors of a run's history: valid only for this run, this conversation and this call.

/** Returns the scope that `Cursors` binds a cursor to. The position is the number of an item. */
export function historyCursorScope(runId: string, conversation: Uint8Array): readonly string[] {
  return ["history", runId, Buffer.from(conversation).toString("hex")];
}
