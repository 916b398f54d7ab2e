// A recorded stream of a real provider: where it comes from, its API, its bytes and its events.

import { at, hasAt, readExact, textAt } from "./exact-json.ts";

/** The APIs that Runnel speaks. */
export type Api = "Chat Completions" | "Responses" | "Messages" | "Gemini";

/** One event of a stream. `frame` is undefined for data that is invalid JSON. */
export interface RecordedEvent {
  readonly name: string;
  readonly data: string;
  readonly frame: unknown;
}

/** Where a stream comes from. */
export interface Source {
  /** Its file in the folder, and `#<number>` for one of several streams in a file. */
  readonly path: string;
  /** The package, or the host, that it was recorded for. */
  readonly provider: string;
}

/** A stream that can be played. */
export interface Recording extends Source {
  readonly api: Api;
  /** The bytes of the response as text. */
  readonly body: string;
  readonly events: readonly RecordedEvent[];
}

/** A stream that is not played. */
export interface LeftOut extends Source {
  readonly why: string;
}

/** Reads one event. Its name is the type of its frame unless the recording has another one. */
export function readEvent(data: string, name?: string): RecordedEvent {
  try {
    const frame = readExact(data);
    return { name: name ?? textAt(frame, "type"), data, frame };
  } catch {
    return { name: name ?? "", data, frame: undefined };
  }
}

/** Returns the API of a stream by its first telling frame, otherwise by the address of its request; undefined for another API. */
export function findApi(events: readonly RecordedEvent[], address: string): Api | undefined {
  const [api] = events.flatMap(({ frame }) => apiOf(frame) ?? []);
  return api ?? addresses.find(([part]) => address.includes(part))?.[1];
}

const addresses: readonly (readonly [string, Api])[] = [
  ["/chat/completions", "Chat Completions"],
  ["/responses", "Responses"],
  ["/messages", "Messages"],
  [":streamGenerateContent", "Gemini"],
];

function apiOf(frame: unknown): Api | undefined {
  const type = textAt(frame, "type");
  if (type.startsWith("response.")) {
    return "Responses";
  }
  if (type === "message_start") {
    return "Messages";
  }
  if (hasAt(frame, "candidates")) {
    return "Gemini";
  }
  return hasAt(frame, "choices") && at(frame, "object") !== "text_completion" ? "Chat Completions" : undefined;
}

/** Splits the events of a file that has several streams, such as all the steps of an agent. */
export function splitStreams(events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] {
  let ended: unknown;
  const starts = events.flatMap(({ frame }, index) => {
    const isStart = index === 0 || (ended !== undefined && begins(frame, ended));
    ended = isStart ? undefined : ends(frame) ? frame : ended;
    return isStart ? [index] : [];
  });
  return starts.map((start, place) => events.slice(start, starts[place + 1]));
}

function begins(frame: unknown, ended: unknown): boolean {
  const isOther = hasAt(frame, "choices", 0, "delta") && at(frame, "id") !== at(ended, "id");
  return isOther || ["message_start", "response.created"].includes(textAt(frame, "type"));
}

function ends(frame: unknown): boolean {
  const isLast = /^(message_stop|response\.(completed|incomplete|failed))$/.test(textAt(frame, "type"));
  return isLast || hasAt(frame, "choices", 0, "finish_reason");
}
