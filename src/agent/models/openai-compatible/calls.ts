// Joins the tool calls of one response from their pieces: by index, or by order when a server sends no index.

import type { ModelToolCall } from "../model.ts";
import { asRecord } from "../wire/frame.ts";

interface OpenCall {
  id: string;
  name: string;
  argumentsJson: string;
  extra: unknown;
}

/** Collects the pieces of calls. */
export class CallPieces {
  readonly #calls = new Map<number, OpenCall>();
  #latest = -1;

  /** Adds a piece and returns its text of the arguments. Returns undefined for a piece of unknown form. */
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

  /** Returns the calls in the order of their index, or undefined when one of them has no name. */
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

  /** Returns the index of a piece without an index. A new name or id begins a call; other pieces continue the latest call. */
  #placeOf(id: string | null | undefined, name: string | null | undefined): number {
    const latest = this.#calls.get(this.#latest);
    const begins = latest === undefined || (Boolean(name) && (latest.name !== "" || Boolean(id)));
    return begins ? this.#latest + 1 : this.#latest;
  }
}

function isTextOrNothing(value: unknown): value is string | null | undefined {
  return typeof value === "string" || value === undefined || value === null;
}
