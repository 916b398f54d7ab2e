// Server-sent events as text. Pure. Whatever the parts hold, one event comes out as exactly one event.

export interface SseEvent {
  /** Where to go on after this event; empty means that the event has no id. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/** Sent first, so that a client knows that it is connected before there is anything to tell. */
export const sseOpening = ": open\n\n";

/** Keeps proxies from closing a quiet stream; clients ignore it. */
export const sseHeartbeat = ": heartbeat\n\n";

export function encodeSseEvent({ id, type, data }: SseEvent): string {
  const idText = oneLine(id);
  // An empty `id:` line would make the client forget the id it has.
  const idLine = idText === "" ? "" : `id: ${idText}\n`;
  const dataLines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${idLine}event: ${oneLine(type)}\n${dataLines.join("")}\n`;
}

/** A line end inside would begin a field of its own; clients drop an id with a NUL. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, "");
}
