// Collects the function calls of one response. Most arrive whole in one part. With `streamFunctionCallArguments` a part with a
// name begins a call, and parts without a name continue it.
//
// F1  A call is open while its latest part says that it will continue. A response with a call that is still open has lost its end.
// F2  A part without a name continues the latest call, which must be open. It is a fault unless it has nothing to say.
// F3  Arguments are kept as they are written.

import { asRecord, type WrittenValue } from "../wire/frame.ts";
import { asArray, type Fields } from "./frames.ts";
import { PartialArguments } from "./partial-arguments.ts";

/** A part with a call. */
export interface CallPart {
  /** The value of `functionCall`. */
  readonly call: unknown;
  readonly signature: string | undefined;
  /** Returns `functionCall` as it is written. */
  readonly written: () => WrittenValue;
}

/** The piece of arguments in a part, or why the part cannot be read. */
export type CallPiece = { readonly text: string; readonly begun?: FunctionCall } | { readonly fault: string };

/** A call, complete at the end of its response. */
export class FunctionCall {
  readonly id: string;
  readonly name: string;
  signature: string | undefined;
  isOpen = true;
  #whole = "";
  #partial: PartialArguments | undefined;

  constructor(id: string, name: string) {
    this.id = id;
    this.name = name;
  }

  get argumentsJson(): string {
    return this.#partial?.print() ?? this.#whole;
  }

  /** Adds the arguments of a part. Returns the text that they add; undefined when they have an unknown form. */
  add({ args, partialArgs }: Fields, written: () => WrittenValue): string | undefined {
    const pieces = asArray(partialArgs);
    if (pieces.length > 0) {
      return this.#addPartial(pieces, () => written().at("partialArgs"));
    }
    const text =
      typeof args === "string" || args === undefined || args === null ? (args ?? "") : written().at("args").text();
    this.#whole += text ?? "";
    return text;
  }

  #addPartial(pieces: readonly unknown[], written: () => WrittenValue): string | undefined {
    this.#partial ??= new PartialArguments();
    let added = "";
    for (const [place, piece] of pieces.entries()) {
      const text = this.#partial.add(asRecord(piece), () => written().at(place).at("numberValue").text());
      if (text === undefined) {
        return undefined;
      }
      added += text;
    }
    return added;
  }
}

/** Collects the calls in the order of their beginnings. */
export class FunctionCalls {
  readonly #calls: FunctionCall[] = [];

  /** Adds a part. */
  add({ call, signature, written }: CallPart): CallPiece {
    const fields = asRecord(call);
    const begun = begin(fields);
    const latest = this.#calls.at(-1);
    const continued = begun ?? (latest?.isOpen === true ? latest : undefined);
    if (continued === undefined) {
      const saysNothing = latest !== undefined && !hasArguments(fields);
      return saysNothing ? { text: "" } : { fault: "a function call has no name" };
    }
    const text = continued.add(fields, written);
    if (text === undefined) {
      return { fault: "a function call has an unknown form" };
    }
    continued.signature ??= signature;
    continued.isOpen = willContinue(fields);
    if (begun === undefined) {
      return { text };
    }
    this.#calls.push(begun);
    return { text, begun };
  }

  all(): readonly FunctionCall[] {
    return this.#calls;
  }
}

function begin({ id, name }: Fields): FunctionCall | undefined {
  return typeof name === "string" && name !== "" ? new FunctionCall(typeof id === "string" ? id : "", name) : undefined;
}

function hasArguments({ args, partialArgs }: Fields): boolean {
  return (args ?? undefined) !== undefined || asArray(partialArgs).length > 0;
}

function willContinue(fields: Fields): boolean {
  return (
    fields.willContinue === true || asArray(fields.partialArgs).some((piece) => asRecord(piece).willContinue === true)
  );
}
