// The content of an answer while it arrives: blocks, and the events that tell of them.
//
// C1  The events, joined as the clients join them, give the blocks.

import type { Block } from "./state.ts";

/** An event of a stream. */
export interface StreamEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A block that can still grow. */
interface GrowingBlock {
  readonly index: number;
  /** The entry of the log that began it. */
  readonly sequence: bigint;
  block: Block;
  isOpen: boolean;
}

/** The blocks of an answer. */
export class ContentBlocks {
  readonly #blocks: GrowingBlock[] = [];

  get count(): number {
    return this.#blocks.length;
  }

  /** Returns the blocks from this index on. */
  from(index: number): readonly Readonly<GrowingBlock>[] {
    return this.#blocks.slice(index);
  }

  get all(): readonly Block[] {
    return this.#blocks.map(({ block }) => block);
  }

  /** Begins a block. */
  begin(block: Block, sequence: bigint): StreamEvent[] {
    const index = this.#blocks.length;
    this.#blocks.push({ index, sequence, block, isOpen: true });
    return [{ type: "content_block_start", index, content_block: block }];
  }

  /** Adds a whole block. */
  add(block: Block, sequence: bigint): StreamEvent[] {
    return [...this.begin(block, sequence), ...this.end(this.#blocks.length - 1)];
  }

  /** Adds the call of a tool: its input comes as a delta, as clients expect it. */
  addCall(call: Block, input: unknown, sequence: bigint): StreamEvent[] {
    const index = this.#blocks.length;
    const begun = this.begin({ ...call, input: {} }, sequence);
    this.#change(index, { input });
    const json = JSON.stringify(input);
    const delta = { type: "input_json_delta", partial_json: json === "{}" ? "" : json };
    return [...begun, deltaEvent(index, delta), ...this.end(index)];
  }

  /** Adds a piece to a text member of a block. */
  extend(index: number, member: "text" | "thinking" | "signature", piece: string): StreamEvent[] {
    const before = this.#blocks[index]?.block[member];
    this.#change(index, { [member]: `${typeof before === "string" ? before : ""}${piece}` });
    return [deltaEvent(index, { type: `${member}_delta`, [member]: piece })];
  }

  cite(index: number, citations: readonly unknown[]): StreamEvent[] {
    if (citations.length === 0) {
      return [];
    }
    this.#change(index, { citations });
    return citations.map((citation) => deltaEvent(index, { type: "citations_delta", citation }));
  }

  end(index: number): StreamEvent[] {
    const block = this.#blocks[index];
    if (block === undefined || !block.isOpen) {
      return [];
    }
    block.isOpen = false;
    return [{ type: "content_block_stop", index }];
  }

  /** Ends all blocks from an index on. */
  endFrom(index: number): StreamEvent[] {
    return this.from(index).flatMap((each) => this.end(each.index));
  }

  /** Replaces the blocks from an index on. No events tell of it. */
  replaceFrom(index: number, blocks: readonly Block[], sequence: bigint): void {
    this.#blocks.splice(index);
    for (const block of blocks) {
      this.add(block, sequence);
    }
  }

  /** Drops the blocks that began at an entry or later. Returns whether there were any. */
  dropSince(sequence: bigint): boolean {
    const kept = this.#blocks.findIndex((each) => each.sequence >= sequence);
    return kept !== -1 && this.#blocks.splice(kept).length > 0;
  }

  #change(index: number, members: object): void {
    const block = this.#blocks[index];
    if (block !== undefined) {
      block.block = { ...block.block, ...members };
    }
  }
}

function deltaEvent(index: number, delta: object): StreamEvent {
  return { type: "content_block_delta", index, delta };
}
