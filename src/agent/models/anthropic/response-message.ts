// The message of a response: takes its events and gives its parts. The calls of our tools, and the state, come with its end.

import type { ModelPart, ModelToolCall } from "../model.ts";
import { Citations } from "../wire/citations.ts";
import { endResponse, finishOf } from "../wire/end.ts";
import { describeLostFrame, describeUnreadable } from "../wire/failures.ts";
import { asRecord, type FrameFinish, isLostFrame, isTextOrNothing, textOf, WrittenValue } from "../wire/frame.ts";
import type { Origin } from "../wire/origin.ts";
import type { SkippedFrames } from "../wire/skipped.ts";
import { isProviderCall, isProviderResult } from "./block.ts";
import { type Counts, readCounts, readFinish, usageOf } from "./frames.ts";
import { ProviderCalls } from "./provider-calls.ts";
import { ResponseBlock, type TextMember } from "./response-block.ts";
import { writeState } from "./state.ts";

type Fields = Readonly<Record<string, unknown>>;

/** One message of a response while it arrives, and its end. */
export class ResponseMessage {
  readonly #provider: string;
  readonly #origin: Origin;
  readonly #skipped: SkippedFrames;
  readonly #providerCalls: ProviderCalls;
  readonly #blocks: ResponseBlock[] = [];
  readonly #byIndex = new Map<unknown, ResponseBlock>();
  readonly #citations = new Citations();
  #id: string | undefined;
  #counts: Counts = {};
  #finish: FrameFinish | undefined;
  #container: string | undefined;
  #hasSpoken = false;
  #hasLost = false;
  #hasLostCall = false;

  constructor(origin: Origin, earlier: readonly ModelToolCall[], skipped: SkippedFrames) {
    this.#provider = origin.provider;
    this.#origin = origin;
    this.#skipped = skipped;
    this.#providerCalls = new ProviderCalls(earlier);
  }

  get hasEnded(): boolean {
    return this.#finish !== undefined;
  }

  /** Whether it has given what cannot be taken back. Thoughts are no part of the answer. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** Whether a head is that of another message. */
  isOther({ id }: Fields): boolean {
    return this.#id !== undefined && !(this.#id !== "" && this.#id === id);
  }

  addLost(data: string): void {
    this.#hasLost ||= this.#finish === undefined && isLostFrame(data);
  }

  /** Begins the message. Its head may have whole blocks, when it waits for the results of a program's calls. */
  begin(head: Fields, data: string): readonly ModelPart[] {
    const blocks = this.#id === undefined && Array.isArray(head.content) ? head.content : [];
    this.#id = textOf(head.id);
    const parts = this.addEnd(blocks.length > 0 ? head : { container: head.container }, head.usage);
    const written = new WrittenValue(data).at("message").at("content");
    return [
      ...parts,
      ...blocks.flatMap((block, place) => this.beginBlock(asRecord(block), written.at(place), undefined)),
    ];
  }

  /** Adds the finish, the container and the usage of an event. */
  addEnd(delta: Fields, usage: unknown): readonly ModelPart[] {
    this.#finish = readFinish(delta) ?? this.#finish;
    const { id } = asRecord(delta.container);
    this.#container = typeof id === "string" ? id : this.#container;
    const newer = readCounts(usage);
    this.#counts = { ...this.#counts, ...newer };
    const said = Object.keys(newer).length === 0 ? undefined : usageOf(this.#counts);
    return said === undefined ? nothing : [{ type: "usage", usage: said }];
  }

  beginBlock(start: Fields, written: WrittenValue, index: unknown): readonly ModelPart[] {
    const block = new ResponseBlock(start, written);
    const open = this.#byIndex.get(index);
    if (block.type === "tool_use" && block.id !== "" && open?.type === block.type && open.id === block.id) {
      // Some gateways repeat the start of a call with each of its pieces.
      return nothing;
    }
    const member = textMembers.get(block.type);
    if (member !== undefined && !isTextOrNothing(start[member])) {
      return [this.#unknownForm()];
    }
    this.#add(block, index);
    this.#citations.add(start.citations);
    if (member !== undefined) {
      return this.#say(block.type, block.text(member));
    }
    if (isProviderResult(block.type)) {
      this.#hasSpoken = true;
      return [this.#providerCalls.answer(start, written)];
    }
    if (!block.isKnown) {
      this.#skipped.add("item", block.type);
    }
    return isCall(block.type) && block.argumentsJson !== ""
      ? [{ type: "call-piece", text: block.argumentsJson }]
      : nothing;
  }

  continueBlock(delta: Fields, index: unknown, data: string): readonly ModelPart[] {
    switch (delta.type) {
      case "text_delta":
        return this.#addText("text", "text", delta.text, index);
      case "thinking_delta":
        return this.#addText("thinking", "thinking", delta.thinking, index);
      case "signature_delta":
        return this.#addSignature(delta.signature, index);
      case "input_json_delta":
        return this.#addArguments(delta.partial_json, index);
      case "compaction_delta":
        // Without a content the service has not summarised the conversation.
        return delta.content === null ? nothing : this.#addText("compaction", "content", delta.content, index);
      case "citations_delta": {
        this.#citations.add([delta.citation]);
        const citation = new WrittenValue(data).at("delta").at("citation");
        this.#blockOf("text", index).addCitation(citation.text());
        return nothing;
      }
      default:
        this.#skipped.add("part", delta.type);
        this.#byIndex.get(index)?.addUnknown();
        return nothing;
    }
  }

  end(isMarked: boolean): readonly ModelPart[] {
    const blocks = this.#blocks.filter(({ type }) => type === "tool_use");
    if (this.#hasLostCall || blocks.some(({ name }) => name === "")) {
      return [
        this.#hasLost
          ? describeLostFrame(this.#provider)
          : describeUnreadable(this.#provider, "a tool call has no name"),
      ];
    }
    const calls = blocks.map(({ id, name, argumentsJson }) => ({ id, name, argumentsJson }));
    const hasLost = this.#hasLost;
    const isMarkedWhole = isMarked && !hasLost && (this.#hasSpoken || calls.length > 0);
    const finish = finishOf({ finish: this.#finish, isMarkedWhole, calls, hasLost });
    const isCut = finish?.reason === "length";
    const waits = finish?.reason === "paused" || finish?.reason === "tool-calls";
    const ended = endResponse({
      provider: this.#provider,
      finish,
      calls,
      usage: usageOf(this.#counts),
      refusal: "",
      hasLost,
      hasBegunCall: calls.length > 0,
      citations: this.#citations.all(),
      state: this.#state(isCut, waits),
    });
    return waits || ended.at(-1)?.type === "failure" ? ended : [...this.#providerCalls.end(isCut), ...ended];
  }

  /** A signature fits its exact thought, so nothing is sent back of a response that has lost a piece. */
  #state(isCut: boolean, waits: boolean): string | undefined {
    const abandoned: ReadonlySet<string> = waits ? new Set() : this.#providerCalls.waiting;
    return this.#hasLost
      ? undefined
      : writeState(this.#origin, { blocks: this.#blocks, container: this.#container, isCut, abandoned });
  }

  #add(block: ResponseBlock, index: unknown): void {
    this.#blocks.push(block);
    this.#byIndex.set(index, block);
    if (isProviderCall(block.type)) {
      this.#providerCalls.begin(block);
    }
  }

  #addText(type: string, member: TextMember, piece: unknown, index: unknown): readonly ModelPart[] {
    if (typeof piece !== "string") {
      return [this.#unknownForm()];
    }
    this.#blockOf(type, index).addText(member, piece);
    return this.#say(type, piece);
  }

  #addSignature(piece: unknown, index: unknown): readonly ModelPart[] {
    if (typeof piece !== "string") {
      return [this.#unknownForm()];
    }
    const block = this.#byIndex.get(index);
    if (block?.type === "thinking") {
      block.addText("signature", piece);
    }
    return nothing;
  }

  #addArguments(piece: unknown, index: unknown): readonly ModelPart[] {
    if (typeof piece !== "string") {
      return [this.#unknownForm()];
    }
    const block = this.#byIndex.get(index);
    this.#hasLostCall ||= block === undefined;
    if (block === undefined || !isCall(block.type)) {
      block?.addUnknown();
      return nothing;
    }
    block.addArguments(piece);
    return piece === "" ? nothing : [{ type: "call-piece", text: piece }];
  }

  /** Returns the open block of a type. A delta without a start begins one. */
  #blockOf(type: string, index: unknown): ResponseBlock {
    const open = this.#byIndex.get(index);
    if (open?.type === type) {
      return open;
    }
    const block = new ResponseBlock({ type }, new WrittenValue(JSON.stringify({ type })));
    this.#add(block, index);
    return block;
  }

  #say(type: string, text: string): readonly ModelPart[] {
    if (text === "" || type === "compaction") {
      return nothing;
    }
    this.#hasSpoken ||= type === "text";
    return [{ type: type === "thinking" ? "reasoning" : "text", text }];
  }

  #unknownForm(): ModelPart {
    return describeUnreadable(this.#provider, "a frame has an unknown form");
  }
}

const nothing: readonly ModelPart[] = [];

/** The member with the text of a block that is shown. */
const textMembers: ReadonlyMap<string, TextMember> = new Map([
  ["text", "text"],
  ["thinking", "thinking"],
]);

function isCall(type: string): boolean {
  return type === "tool_use" || isProviderCall(type);
}
