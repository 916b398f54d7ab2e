// Ids of OpenAI's API and the ids of the contract behind them.

/** Returns the id of the response that a run is. */
export function responseIdOf(runId: string): string {
  return `resp_${plain(runId)}`;
}

/** Returns the run behind the id of a response; undefined for a text that is no such id. */
export function runIdOf(responseId: string): string | undefined {
  const [, hex] = /^resp_([0-9a-f]{32})$/.exec(responseId) ?? [];
  return hex === undefined ? undefined : dashed(hex);
}

/** Returns the id of a run with its dashes, from 32 hexadecimal digits. */
export function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Returns the id of the conversation that a session is. */
export function conversationIdOf(sessionId: string): string {
  return `conv_${sessionId}`;
}

/** Returns the session behind the id of a conversation; undefined for a text that is no such id. */
export function sessionIdOf(conversationId: string): string | undefined {
  return conversationId.startsWith("conv_") ? conversationId.slice("conv_".length) : undefined;
}

/** Returns an id without dashes. */
export function plain(id: string): string {
  return id.replaceAll("-", "");
}

/** Returns when a run was made, in seconds since 1970. The id of a run begins with the milliseconds. */
export function secondsOf(runId: string): number {
  return Math.floor(Number.parseInt(plain(runId).slice(0, 12), 16) / 1_000);
}
