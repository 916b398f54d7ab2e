// The events and messages of AG-UI 1.0 that this surface sends and reads.

/** An event. Clients of 0.0.x fail at unknown types, so they get only types of both versions. */
export interface AgUiEvent {
  readonly type: string;
  readonly timestamp?: number;
  readonly [field: string]: unknown;
}

/** A call of a tool, in an assistant's message. */
export interface AgUiToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message as clients keep it. */
export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  /** A text, or parts. */
  readonly content?: string | readonly object[];
  readonly toolCalls?: readonly AgUiToolCall[];
  readonly toolCallId?: string;
}

/** Returns the event that ends a run with an error. */
export function runError(code: string, message: string): AgUiEvent {
  return { type: "RUN_ERROR", message, code };
}

/** A frame of the stream. `id` is the position after it, for `Last-Event-ID`. */
export function printFrame(id: string, event: AgUiEvent): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The prefixes of ids that this surface makes. */
export const ownIds = /^(?:act|msg|res|rs|usr)_/;

/** Returns a run's id as ids of messages contain it. */
export function hexOf(runId: string): string {
  return runId.replaceAll("-", "");
}
