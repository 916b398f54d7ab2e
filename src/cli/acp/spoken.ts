// The text of a turn as an editor has it. ACP takes nothing back: a turn that begins again is silent while it repeats what the editor
// has, and is a new message from the first difference on.

import type { SessionUpdate } from "@agentclientprotocol/sdk";

/** Text of one kind. Give it each piece once, in order. */
export class Spoken {
  readonly #kind: "agent_message_chunk" | "agent_thought_chunk";
  readonly #name: string;
  /** Number of the open message. */
  #number = 0;
  /** The text of the turn. */
  #turn = "";
  /** The length of its complete messages. */
  #done = 0;
  /** What the editor has of the void turn, while the new one repeats it. */
  #shown = "";

  constructor(kind: "agent_message_chunk" | "agent_thought_chunk", runId: string) {
    this.#kind = kind;
    this.#name = `${runId}.${kind === "agent_message_chunk" ? "text" : "thought"}`;
  }

  /** A new turn begins. */
  begin(): void {
    this.#forget("");
  }

  /** The turn begins again. */
  restart(): void {
    this.#forget(this.#shown === "" ? this.#turn : this.#shown);
  }

  /** Returns the updates for a piece of text. */
  say(piece: string): SessionUpdate[] {
    this.#turn += piece;
    if (this.#shown === "") {
      return this.#chunk(piece);
    }
    if (this.#shown.startsWith(this.#turn)) {
      return [];
    }
    const rest = this.#turn.startsWith(this.#shown) ? this.#turn.slice(this.#shown.length) : undefined;
    return rest === undefined ? this.#sayAgain(this.#turn) : this.#chunk(rest);
  }

  /** Returns the updates for a text that replaces that of the open message. */
  replace(text: string): SessionUpdate[] {
    this.#turn = this.#turn.slice(0, this.#done) + text;
    return this.#sayAgain(text);
  }

  /** Returns the updates that complete the open message. An empty text is that of its pieces. */
  complete(text: string): SessionUpdate[] {
    const pieces = this.#turn.slice(this.#done);
    const isWhole = text.trim() === "" || text.trim() === pieces.trim();
    const rest = isWhole ? [] : text.startsWith(pieces) ? this.say(text.slice(pieces.length)) : this.replace(text);
    const isShorter = this.#shown !== "" && this.#turn !== this.#shown && this.#turn !== "";
    const updates = [...rest, ...(isShorter ? this.#sayAgain(this.#turn) : [])];
    this.#shown = "";
    this.#done = this.#turn.length;
    this.#number++;
    return updates;
  }

  #forget(shown: string): void {
    this.#shown = shown;
    this.#turn = "";
    this.#done = 0;
  }

  #sayAgain(text: string): SessionUpdate[] {
    this.#number++;
    return this.#chunk(text);
  }

  #chunk(text: string): SessionUpdate[] {
    this.#shown = "";
    const messageId = `${this.#name}.${this.#number}`;
    return text === "" ? [] : [{ sessionUpdate: this.#kind, messageId, content: { type: "text", text } }];
  }
}
