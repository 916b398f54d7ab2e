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
