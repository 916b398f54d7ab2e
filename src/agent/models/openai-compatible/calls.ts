// The calls of one response, joined from their pieces: by index, or in order where a server sends no index.

import type { ModelToolCall } from "../model.ts";
import { asRecord } from "../wire/frame.ts";

interface OpenCall {
  id: string;
  name: string;
  argumentsJson: string;
  extra: unknown;
}

export class CallPieces {
  readonly #calls = new Map<number, OpenCall>();
  #latest = -1;

  /** Returns the piece of the arguments; undefined for a piece in a form that nobody knows. */
  add(value: unknown): string | undefined {
    const { index, id, function: named, extra_content: extra } = asRecord(value);
    const { name, arguments: text = "" } = asRecord(named);
    if (!isTextOrNothing(id) || !isTextOrNothing(name) || !isTextOrNothing(text)) {
      return undefined;
    }
    const call = this.#callAt(typeof index === "number" ? index : this.#placeOf(id, name));
    call.id ||= id ?? "";
    call.name ||= name ?? "";
    call.argumentsJson += text ?? "";
    call.extra ??= extra;
    return text ?? "";
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  /** In the order of their index; undefined when one of them has no name. */
  whole(): readonly (ModelToolCall & { readonly extra: unknown })[] | undefined {
    const calls = [...this.#calls].toSorted(([one], [other]) => one - other).map(([, call]) => call);
    if (calls.some(({ name }) => name === "")) {
      return undefined;
    }
    return calls.map((call, place) => ({ ...call, id: call.id || `call_${place}` }));
  }

  #callAt(index: number): OpenCall {
    const known = this.#calls.get(index);
    if (known !== undefined) {
      return known;
    }
    const call = { id: "", name: "", argumentsJson: "", extra: undefined };
    this.#calls.set(index, call);
    this.#latest = index;
    return call;
  }

  /** A piece with a name or an id of its own begins a call; any other goes on with the latest. */
  #placeOf(id: string | null | undefined, name: string | null | undefined): number {
    const latest = this.#calls.get(this.#latest);
    const begins = latest === undefined || (Boolean(name) && (latest.name !== "" || Boolean(id)));
    return begins ? this.#latest + 1 : this.#latest;
  }
}

function isTextOrNothing(value: unknown): value is string | null | undefined {
  return typeof value === "string" || value === undefined || value === null;
}
