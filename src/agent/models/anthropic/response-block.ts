// A block of a response: what its start and its deltas say, joined. The start may have a part of the content already.

import { RawJson } from "../../../platform/base/json/exact.ts";
import { CallText } from "../wire/call-text.ts";
import { argumentsOf } from "../wire/calls.ts";
import { asRecord, textOf, type WrittenValue } from "../wire/frame.ts";
import { type Block, inputOf, isProviderCall, isThought } from "./block.ts";

/** The members whose text arrives in pieces. */
export type TextMember = "text" | "thinking" | "signature" | "content";

/** A block while it arrives, and afterwards. */
export class ResponseBlock {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly #start: Readonly<Record<string, unknown>>;
  readonly #written: WrittenValue;
  readonly #texts = new Map<TextMember, string>();
  readonly #citations: string[] = [];
  readonly #arguments = new CallText();
  #hasGap = false;

  /** `written` is the start as it is written. */
  constructor(start: Readonly<Record<string, unknown>>, written: WrittenValue) {
    this.type = textOf(start.type);
    this.id = textOf(start.id);
    this.name = textOf(start.name);
    this.#start = start;
    this.#written = written;
  }

  /** Adds a piece to a text member. */
  addText(member: TextMember, piece: string): void {
    this.#texts.set(member, this.text(member) + piece);
  }

  /** Adds a piece of a call's arguments. */
  addArguments(piece: string): void {
    this.#arguments.add(piece);
  }

  /** Adds a citation as it is written; undefined for one that cannot be read. */
  addCitation(written: string | undefined): void {
    if (written !== undefined) {
      this.#citations.push(written);
    }
  }

  /** Notes an unknown delta. A block of an unknown type then lacks something. */
  addUnknown(): void {
    this.#hasGap = !this.isKnown;
  }

  /** Whether the deltas of its type are known. */
  get isKnown(): boolean {
    return this.type === "text" || isThought(this.type) || this.type === "compaction" || this.#isCall();
  }

  /** Returns the text of a member so far. */
  text(member: TextMember): string {
    return this.#texts.get(member) ?? textOf(this.#start[member]);
  }

  /** The arguments of a call as the model wrote them. Those of the start count unless pieces follow. */
  get argumentsJson(): string {
    if (this.#arguments.text !== "") {
      return this.#arguments.text;
    }
    const { input } = this.#start;
    if (typeof input === "string") {
      return input;
    }
    return Object.keys(asRecord(input)).length === 0 ? "" : (this.#written.at("input").text() ?? JSON.stringify(input));
  }

  /** Whether the text and the calls of the response do not say everything that the block says. */
  get isWorthKeeping(): boolean {
    switch (this.type) {
      case "text":
        return this.#citations.length > 0 || asList(this.#start.citations).length > 0;
      case "tool_use":
        return this.#isOfProgram() || this.#start.toolset_name !== undefined;
      default:
        return this.#isReturnable();
    }
  }

  /** Returns the block as the service wants it back, undefined when it refuses it. Calls that are cut lose their arguments. */
  toRequest(isCut: boolean): Block | undefined {
    const members = Object.keys(this.#start).map((key) => [key, this.#written.at(key).text()] as const);
    if (!this.#isReturnable() || members.some(([, text]) => text === undefined)) {
      return undefined;
    }
    return {
      ...Object.fromEntries(members.map(([key, text]) => [key, new RawJson(text ?? "null")])),
      ...Object.fromEntries(this.#texts),
      ...(this.type === "thinking" && { thinking: this.text("thinking") }),
      ...(this.#citations.length > 0 && { citations: this.#allCitations() }),
      ...(this.#isCall() && { input: isCut ? new RawJson("{}") : inputOf(argumentsOf(this.argumentsJson)) }),
      type: this.type,
    };
  }

  /** The service refuses thoughts without a signature, which gateways of other models send. */
  #isReturnable(): boolean {
    return !this.#hasGap && this.type !== "" && (this.type !== "thinking" || this.text("signature") !== "");
  }

  #isCall(): boolean {
    return this.type === "tool_use" || isProviderCall(this.type);
  }

  /** Whether a program has made the call, which waits at the service for its result. */
  #isOfProgram(): boolean {
    const { type } = asRecord(this.#start.caller);
    return type !== undefined && type !== "direct";
  }

  #allCitations(): readonly RawJson[] {
    const { citations } = this.#start;
    const first = asList(citations).map((_, place) => this.#written.at("citations").at(place).text() ?? "null");
    return [...first, ...this.#citations].map((text) => new RawJson(text));
  }
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
