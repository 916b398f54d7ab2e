// Ids of Anthropic's API and the ids of the contract behind them.

/** Returns the id of the message that a run is. */
export function messageIdOf(runId: string): string {
  return `msg_${runId.replaceAll("-", "")}`;
}

/** Returns the run behind the id of a message; undefined for a text that is no such id. */
export function runIdOf(messageId: string): string | undefined {
  const [, hex] = /^msg_([0-9a-f]{32})$/.exec(messageId) ?? [];
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Returns the id of a call of an MCP server, which the entry of the log at `sequence` begins. Anthropic's own ids look otherwise. */
export function serverCallIdOf(messageId: string, sequence: bigint): string {
  return `mcptoolu_${messageId.replace("msg_", "")}_${sequence}`;
}

/** Returns whether an id of a call was given out by this service. */
export function isServerCallId(id: string): boolean {
  return /^mcptoolu_[0-9a-f]{32}_\d+$/.test(id);
}
