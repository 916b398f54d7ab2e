// Joins the tool calls of one response from their pieces, for every format that sends pieces.
//
// K1  An id belongs to one call: a piece with a known id continues that call, at any index.
// K2  A piece with a new id and a name begins a call, also at an index that another call has. Without a name it continues the call
//     at its index: some servers give each piece an id of its own.
// K3  A piece without an id continues the latest call at its index, unless it has another name, which begins a call, or the same
//     name and other arguments after whole ones of a call without an id: some servers send each call in one piece, all at one index.
//     Without an index too, any name begins a call once the latest one has a name, and any other piece continues the latest call.
// K4  Calls are in the order of their indexes, and in the order of their beginnings where they have the same index or none.
// K5  Arguments are joined as `CallText` has it. The end of the response gives a call without arguments `{}` (`end.ts`).

import type { ModelToolCall } from "../model.ts";
import { CallText } from "./call-text.ts";

/** A piece of a call. Empty texts count as missing. */
export interface CallPiece {
  readonly id?: string | undefined;
  readonly index?: number | undefined;
  readonly name?: string | undefined;
  /** A piece of the text of the arguments. */
  readonly text?: string | undefined;
  /** Data that the server wants back with the call. */
  readonly extra?: unknown;
}

/** A whole call, with the data that the server wants back. Its id is empty when the server gave none. */
export type WholeCall = ModelToolCall & { readonly extra: unknown };

interface OpenCall {
  id: string;
  readonly index: number;
  name: string;
  readonly arguments: CallText;
  extra: unknown;
}

/** Collects the pieces of calls. */
export class CallPieces {
  readonly #calls: OpenCall[] = [];
  readonly #byId = new Map<string, OpenCall>();
  readonly #byIndex = new Map<number, OpenCall>();

  /** Adds a piece. */
  add({ id = "", index, name = "", text = "", extra }: CallPiece): void {
    const call = this.#find(id, index, name, text) ?? this.#begin(index);
    if (id !== "" && call.id === "") {
      call.id = id;
      this.#byId.set(id, call);
    }
    call.name ||= name;
    call.arguments.add(text);
    call.extra ??= extra;
  }

  /** Returns the calls, or undefined when one of them has no name. */
  whole(): readonly WholeCall[] | undefined {
    const calls = this.#calls.toSorted((one, other) => one.index - other.index);
    return calls.some(({ name }) => name === "")
      ? undefined
      : calls.map(({ id, name, extra, arguments: { text } }) => ({ id, name, argumentsJson: text, extra }));
  }

  #find(id: string, index: number | undefined, name: string, text: string): OpenCall | undefined {
    const known = id === "" ? undefined : this.#byId.get(id);
    const latest = index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (known !== undefined || latest === undefined) {
      return known;
    }
    const isNamed = id !== "" && latest.id !== "" && name !== "";
    const isNext =
      name !== "" &&
      latest.name !== "" &&
      (index === undefined || name !== latest.name || (latest.id === "" && isOther(latest.arguments, text)));
    return isNamed || isNext ? undefined : latest;
  }

  #begin(index: number | undefined): OpenCall {
    const place = index ?? (this.#calls.at(-1)?.index ?? -1) + 1;
    const call = { id: "", index: place, name: "", arguments: new CallText(), extra: undefined };
    this.#calls.push(call);
    this.#byIndex.set(place, call);
    return call;
  }
}

/** Whether the text is that of another call than the whole arguments before it. */
function isOther(given: CallText, text: string): boolean {
  return given.isWhole && text !== "" && text !== given.text;
}

/** Returns the arguments of a call as servers and callers accept them: `{}` for an empty text and for `null`. */
export function argumentsOf(json: string): string {
  const text = json.trim();
  return text === "" || text === "null" ? "{}" : json;
}
