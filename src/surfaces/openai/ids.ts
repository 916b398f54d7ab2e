// Ids of OpenAI's API and the ids of the contract behind them.

/** The part of a run that a response is: the results after a sequence, up to the end or the next wait for the caller's approval. */
export interface ResponsePlace {
  readonly runId: string;
  readonly after: number;
}

/** Returns the id of a response: `resp_…`, and `resp_…_12` for the part of a run after its 12th result. */
export function responseIdOf(runId: string, after = 0): string {
  return `resp_${plain(runId)}${after === 0 ? "" : `_${after}`}`;
}

/** Returns the place behind the id of a response; undefined for a text that is no such id. */
export function responsePlaceOf(responseId: string): ResponsePlace | undefined {
  const [, hex, after = "0"] = /^resp_([0-9a-f]{32})(?:_([1-9]\d{0,14}))?$/.exec(responseId) ?? [];
  return hex === undefined ? undefined : { runId: dashed(hex), after: Number(after) };
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
