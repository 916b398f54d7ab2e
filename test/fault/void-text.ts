// What readers of a stream show in the end: they drop the text that the stream declares void, by the ids alone.

import type { SseEvent } from "../harness/sse.ts";

/** One reader's copy of a session's stream; a reader that was cut off continues with its copy. */
export class SessionCopy {
  lastId = "";
  #kept: SseEvent[] = [];

  take(event: SseEvent): void {
    this.lastId = event.id ?? this.lastId;
    if (event.event === "turn_restarted") {
      const from = sequenceOf(JSON.parse(event.data).from_id);
      this.#kept = this.#kept.filter(({ id = "" }) => sequenceOf(id) < from);
    } else {
      this.#kept.push(event);
    }
  }

  get text(): string {
    return textOf(this.#kept);
  }

  /** Names of the kept events, with consecutive equal ones as one. */
  get shape(): string[] {
    return this.#kept.map(({ event }) => event).filter((event, index, all) => event !== all[index - 1]);
  }
}

/** The text of a reader that knows only the events of the Agent Runner document. */
export function textOf(events: readonly SseEvent[]): string {
  return events.flatMap(({ event, data }) => (event === "text" ? [JSON.parse(data).content] : [])).join("");
}

export function outputOf(events: readonly SseEvent[]): string {
  const done = events.at(-1);
  if (done?.event !== "done") {
    throw new Error(`the last event is ${done?.event}`);
  }
  return JSON.parse(done.data).output;
}

function sequenceOf(id: string): number {
  return Number(id.slice(id.lastIndexOf(".") + 1));
}
