// The state that a provider wants back with its own response: the parts in order, with their signatures and ids. Nothing
// outside reads it. A response without signatures or ids has no state.

import type { LanguageModelV4Message, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelToolCall } from "../model.ts";
import { asRecord } from "../wire/frame.ts";
import { sameCalls } from "../wire/same-calls.ts";
import type { Dialect } from "./dialect.ts";

/** The content of an assistant message in the SDK's prompt. */
export type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
type Part = AssistantContent[number];
type Piece = { type: "text" | "reasoning"; text: string; providerOptions?: SharedV4ProviderMetadata };

/** Collects the parts of one response. */
export class Replay {
  readonly #content: AssistantContent = [];
  readonly #open = new Map<string, Piece>();
  readonly #dialect: Dialect;
  #isNeeded = false;
  #keepsThoughts = false;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Makes thoughts that led to calls part of the state, even without a signature. */
  keepThoughts(): void {
    this.#keepsThoughts = true;
  }

  /** Adds one part of the response. */
  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#start(part.type === "text-start" ? "text" : "reasoning", part.id, part.providerMetadata);
        break;
      case "text-delta":
      case "reasoning-delta":
        this.#continue(part.type === "text-delta" ? "text" : "reasoning", part.id, part.delta, part.providerMetadata);
        break;
      case "text-end":
      case "reasoning-end":
        this.#note(
          this.#open.get(keyOf(part.type === "text-end" ? "text" : "reasoning", part.id)),
          part.providerMetadata,
        );
        break;
      case "tool-call": {
        const call = { type: "tool-call" as const, toolCallId: part.toolCallId, toolName: part.toolName };
        // As text, the arguments are sent back byte for byte.
        this.#content.push({ ...call, input: part.input, ...this.#options(part.providerMetadata) });
        break;
      }
      default:
    }
  }

  /**
   * Returns the state as JSON text, or undefined when the text and the calls say everything. The calls of a cut response lose their
   * arguments, which may be cut too.
   */
  state(provider: string, isCut: boolean): string | undefined {
    const thoughtForCalls = this.#keepsThoughts && this.#content.some(({ type }) => type === "tool-call");
    if (!this.#isNeeded && !thoughtForCalls) {
      return undefined;
    }
    const content = isCut ? this.#content.map(withoutArguments) : this.#content;
    return JSON.stringify({ provider, kind: this.#dialect.stateKind, content });
  }

  #start(type: Piece["type"], id: string, metadata: SharedV4ProviderMetadata | undefined): Piece {
    const piece: Piece = { type, text: "" };
    this.#open.set(keyOf(type, id), piece);
    this.#content.push(piece);
    // The signature of a piece arrives again, with the piece itself.
    this.#note(piece, this.#dialect.signsPieces === true ? undefined : metadata);
    return piece;
  }

  #continue(type: Piece["type"], id: string, delta: string, metadata: SharedV4ProviderMetadata | undefined): void {
    if (this.#dialect.signsPieces === true && metadata !== undefined) {
      this.#content.push({ type, text: delta, ...this.#options(metadata) });
      this.#open.delete(keyOf(type, id));
      return;
    }
    const piece = this.#open.get(keyOf(type, id)) ?? this.#start(type, id, undefined);
    piece.text += delta;
    this.#note(piece, metadata);
  }

  #note(piece: Piece | undefined, metadata: SharedV4ProviderMetadata | undefined): void {
    if (piece !== undefined && metadata !== undefined) {
      Object.assign(piece, this.#options({ ...piece.providerOptions, ...metadata }));
    }
  }

  #options(metadata: SharedV4ProviderMetadata | undefined): { providerOptions?: SharedV4ProviderMetadata } {
    if (metadata === undefined) {
      return {};
    }
    this.#isNeeded ||= this.#dialect.isWorthKeeping?.(metadata) ?? true;
    return { providerOptions: metadata };
  }
}

/**
 * Reads the state of a message with these calls. A provider refuses a call without a result, so calls that the message lacks are left
 * out, and so are the thoughts that would then end it. Returns undefined when the state belongs to another provider or dialect, or
 * is unreadable.
 */
export function readState(
  provider: string,
  kind: string | undefined,
  { state, toolCalls }: { readonly state?: string | undefined; readonly toolCalls: readonly ModelToolCall[] },
): AssistantContent | undefined {
  if (state === undefined) {
    return undefined;
  }
  try {
    const { content, ...owner } = asRecord(JSON.parse(state));
    return owner.provider === provider && owner.kind === kind && Array.isArray(content)
      ? keepCalls(content, toolCalls)
      : undefined;
  } catch {
    return undefined;
  }
}

function keepCalls(content: AssistantContent, made: readonly ModelToolCall[]): AssistantContent {
  const find = sameCalls(made);
  const kept = content.flatMap((part): Part[] => {
    if (part.type !== "tool-call") {
      return [part];
    }
    const call = find({ id: part.toolCallId, name: part.toolName });
    return call === undefined ? [] : [{ ...part, toolCallId: call.id }];
  });
  return kept.length === content.length ? kept : kept.slice(0, kept.findLastIndex(isNoThought) + 1);
}

function isNoThought({ type }: Part): boolean {
  return type !== "reasoning";
}

function keyOf(type: Piece["type"], id: string): string {
  return `${type} ${id}`;
}

function withoutArguments(part: Part): Part {
  return part.type === "tool-call" ? { ...part, input: "{}" } : part;
}
