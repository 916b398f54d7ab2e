// The state that Gemini wants back with its own response: the parts in order, with their signatures, and with the calls and results
// of Google's own tools as they are written. A response without these has no state. Files that the model made are parts too, as
// many as have room: a model changes its image when it gets it back.

import { printJson, RawJson } from "../../../platform/base/json/exact.ts";
import type { ModelMessage, ModelToolCall } from "../model.ts";
import { asRecord, WrittenValue } from "../wire/frame.ts";
import { withoutMember } from "../wire/members.ts";
import { isOfOtherModel, type Origin } from "../wire/origin.ts";
import { sameCalls } from "../wire/same-calls.ts";
import { argumentsObject } from "./arguments.ts";
import type { Fields } from "./frames.ts";
import { FunctionCall } from "./function-calls.ts";

/** Marks the states of this format. */
const kind = "gemini";

/**
 * The maximum of the files in a state, and of those in a request. The message has them, and fits into a call of 4 MiB. A request
 * carries them beside the 16 MiB of a user's media, and the service takes 20 MB.
 */
const fileCharsMax = 2 * 1024 * 1024;

interface TextPart {
  text: string;
  readonly thought?: true;
  readonly thoughtSignature?: string;
}

/** Collects the parts of one response. */
export class ResponseState {
  readonly #parts: (TextPart | FunctionCall | RawJson)[] = [];
  /** The text that the next piece without a signature continues. */
  #open: TextPart | undefined;
  #isNeeded = false;
  #fileChars = 0;

  /** Adds a piece of text or of a thought. A signature belongs to its own piece alone. */
  addText(text: string, isThought: boolean, signature: string | undefined): void {
    if (signature !== undefined) {
      this.#isNeeded = true;
      this.#push({ text, ...(isThought && { thought: true }), thoughtSignature: signature });
    } else if (this.#open !== undefined && (this.#open.thought === true) === isThought) {
      this.#open.text += text;
    } else if (text !== "") {
      const part: TextPart = { text, ...(isThought && { thought: true }) };
      this.#push(part);
      this.#open = part;
    }
  }

  /** Adds a part of one of Google's own tools. */
  addWritten(json: string): void {
    this.#isNeeded = true;
    this.#push(new RawJson(json));
  }

  /** Adds a file that the model made. One without room is left out with its signature, which belongs to it alone. */
  addFile(json: string): void {
    if (this.#fileChars + json.length <= fileCharsMax) {
      this.#fileChars += json.length;
      this.addWritten(json);
    }
  }

  /** Adds a call, which may still grow. */
  addCall(call: FunctionCall): void {
    this.#push(call);
  }

  /**
   * Returns the state as JSON text, or undefined when the text and the calls say everything. The calls of a cut response lose their
   * arguments, which may be cut too.
   */
  print({ provider, model }: Origin, isCut: boolean): string | undefined {
    const isSigned = this.#parts.some((part) => part instanceof FunctionCall && part.signature !== undefined);
    if (!this.#isNeeded && !isSigned) {
      return undefined;
    }
    const parts = this.#parts.map((part) =>
      part instanceof FunctionCall ? callPart(part, isCut ? "{}" : part.argumentsJson) : part,
    );
    return printJson({ provider, model, kind, parts });
  }

  #push(part: TextPart | FunctionCall | RawJson): void {
    this.#parts.push(part);
    this.#open = undefined;
  }
}

function callPart({ id, name, signature }: FunctionCall, argumentsJson: string): object {
  return {
    functionCall: { ...(id !== "" && { id }), name, args: argumentsObject(argumentsJson) },
    ...(signature !== undefined && { thoughtSignature: signature }),
  };
}

/** The room for files in one request. */
export class FileRoom {
  #left = fileCharsMax;

  /** Takes room. Returns false when there is too little. */
  take(chars: number): boolean {
    const isTaken = chars <= this.#left;
    this.#left = isTaken ? this.#left - chars : 0;
    return isTaken;
  }
}

/**
 * Returns the parts of a message in the form of the provider. Files that find no room are left out. Calls that the message lacks are left out, and so are the thoughts that
 * would then end it. Returns undefined when the message has no state of this provider.
 */
export function readState(
  origin: Origin,
  { state, toolCalls }: Extract<ModelMessage, { role: "assistant" }>,
  room: FileRoom,
): readonly object[] | undefined {
  if (state === undefined) {
    return undefined;
  }
  try {
    const { provider, model, kind: format, parts } = asRecord(JSON.parse(state));
    if (provider !== origin.provider || format !== kind || !Array.isArray(parts)) {
      return undefined;
    }
    const written = new WrittenValue(state).at("parts");
    const all = parts.map((part, place): KnownPart => ({ fields: asRecord(part), written: written.at(place) }));
    const readable = isOfOtherModel(model, origin) ? all.flatMap(unsigned) : all;
    return keepCalls(
      readable.filter(({ fields, written: part }) => !isFile(fields) || room.take(part.text()?.length ?? 0)),
      toolCalls,
    );
  } catch {
    return undefined;
  }
}

interface KnownPart {
  readonly fields: Fields;
  readonly written: WrittenValue;
}

function isFile(fields: Fields): boolean {
  return "inlineData" in fields || "fileData" in fields;
}

/**
 * Returns the part for another model. Signatures are encrypted for the model that wrote them, and thoughts and calls of tools such as
 * `toolCall` are nothing without theirs. Code that Google has run is plain. Files are left out: not every model reads each of them.
 */
function unsigned({ fields, written }: KnownPart): readonly KnownPart[] {
  const { thoughtSignature, ...others } = fields;
  if (
    others.thought === true ||
    others.text === "" ||
    isFile(others) ||
    "toolCall" in others ||
    "toolResponse" in others
  ) {
    return [];
  }
  const json = thoughtSignature === undefined ? undefined : written.text();
  const plain = json === undefined ? written : new WrittenValue(withoutMember(json, "thoughtSignature"));
  return [{ fields: others, written: plain }];
}

function keepCalls(parts: readonly KnownPart[], made: readonly ModelToolCall[]): readonly object[] {
  const find = sameCalls(made);
  const kept = parts.flatMap(({ fields, written }): object[] => {
    const { functionCall, ...others } = fields;
    if (functionCall === undefined) {
      return [partAsWritten(others, written)];
    }
    const { id, name } = asRecord(functionCall);
    const call = find({ id: typeof id === "string" ? id : "", name: String(name) });
    const args = written.at("functionCall").at("args").text();
    return call === undefined ? [] : [{ functionCall: callOf(call, args), ...others }];
  });
  return kept.length === parts.length ? kept : kept.slice(0, kept.findLastIndex((part) => !isThought(part)) + 1);
}

function callOf({ id, name, argumentsJson }: ModelToolCall, args: string | undefined): object {
  return { id, name, args: argumentsObject(args ?? argumentsJson) };
}

/** Returns a part without a call. Only a text has no numbers that JSON.parse would round. */
function partAsWritten(part: Fields, written: WrittenValue): object {
  const json = typeof part.text === "string" ? undefined : written.text();
  return json === undefined ? part : new RawJson(json);
}

function isThought(part: object): boolean {
  return asRecord(part).thought === true;
}
