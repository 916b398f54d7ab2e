// Server-sent events as text. Pure. One event is encoded as exactly one event, regardless of the characters in its parts.

/** A server-sent event. */
export interface SseEvent {
  /** The position to resume after this event; empty means no id. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/** Sent first, so that a client sees the connection before the first event. */
export const sseOpening = ": open\n\n";

/** Keeps proxies from closing a quiet stream. Clients ignore it. */
export const sseHeartbeat = ": heartbeat\n\n";

/** Encodes an event: `id: 7\nevent: done\ndata: {}\n\n`. */
export function encodeSseEvent({ id, type, data }: SseEvent): string {
  const idText = oneLine(id);
  // An empty `id:` line would make the client forget its last id.
  const idLine = idText === "" ? "" : `id: ${idText}\n`;
  const dataLines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${idLine}event: ${oneLine(type)}\n${dataLines.join("")}\n`;
}

/** Removes line ends and NUL: a line end would begin a new field, and clients drop an id with a NUL. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, "");
}
