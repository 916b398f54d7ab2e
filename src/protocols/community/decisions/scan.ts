// Finds the parts of a model's text that may be its decision: the whole text, fenced blocks, and JSON inside prose.
// S1  The inside of an unreadable decision is not a separate decision: nothing is executed by halves.
// S2  A decision that begins and is never closed makes the text cut, regardless of the rest of the text.
// S3  The work is linear in the length of the text: beyond `workFactor` or `candidatesMax` the scan gives up.

import { jsonDepthMax } from "../../../platform/base/json/text.ts";
import type { Json } from "./json.ts";
import { findClosing, type Reading, readLenientJson, type Unreadable } from "./reader.ts";

/** The outcome of a scan. */
export interface Scan {
  readonly candidates: readonly Candidate[];
  /** The problem of the first unreadable part that began like JSON; a part that was cut replaces it. */
  readonly problem: Problem | undefined;
  readonly isCut: boolean;
  readonly isExhausted: boolean;
  /** The number of characters read, including repeated reads. */
  readonly work: number;
}

/** A part of the text that may be the decision. */
export interface Candidate {
  readonly value: Json;
  /** True for the whole text or the whole content of a fenced block. */
  readonly isBlock: boolean;
  readonly isRepaired: boolean;
}

/** The reason why a part of the text is unreadable. */
export interface Problem {
  readonly isCut: boolean;
  readonly message: string;
}

/** Scans a trimmed text. */
export function scanDecisions(text: string): Scan {
  return new Scanner(text).scan();
}

/** The maximum work per character. A model's text is read once or twice; only nested brackets without an end take more. */
const workFactor = 8;
/** Work that is always allowed, so that short texts never exhaust the scan. */
const workFree = 4096;
/** The maximum number of candidates. A text with more of them answers no question. */
const candidatesMax = 1_000;

const interesting = /[[{]|`{3,}/g;
/**
 * The start of JSON in prose; `{slug}` does not match. A bracket at the end of the text matches, because it may be cut JSON.
 */
const opening = /\{\s*(?:["}[]|$)|\[\s*(?:[{[\]"\-\dtfn]|$)/y;
const language = /[^\s`{["]*/y;
const blanks = /\s*/y;
const blockEnd = /\s*(?:$|`{3})/y;
const fence = "```";
/** A block that contains one of these words is meant as a decision, in any language. */
const decisionWords = ['"action":', "communitySlug", "threadId", "threadType"];

class Scanner {
  readonly #text: string;
  readonly #candidates: Candidate[] = [];
  #problem: Problem | undefined;
  #isCut = false;
  #work = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): Scan {
    let at = this.#readWhole();
    for (let isInFence = false; !this.#isExhausted(); ) {
      interesting.lastIndex = at;
      const found = interesting.exec(this.#text);
      if (found === null) {
        break;
      }
      if (!found[0].startsWith(fence)) {
        at = this.#readInProse(found.index);
        continue;
      }
      isInFence = !isInFence;
      const behind = found.index + found[0].length;
      at = isInFence ? this.#readFence(behind) : behind;
    }
    return {
      candidates: this.#candidates,
      problem: this.#problem,
      isCut: this.#isCut,
      isExhausted: this.#isExhausted(),
      work: this.#work + this.#text.length,
    };
  }

  #isExhausted(): boolean {
    return this.#work > workFree + workFactor * this.#text.length || this.#candidates.length > candidatesMax;
  }

  /** Reads the whole text as one value. Returns the offset where the scan continues. */
  #readWhole(): number {
    const reading = this.#read(0);
    const isWhole = reading.kind === "value" && reading.end === this.#text.length;
    if (!isWhole || (reading.isRepaired && !this.#isOpening(0))) {
      return 0;
    }
    this.#candidates.push({ value: reading.value, isBlock: true, isRepaired: reading.isRepaired });
    return reading.end;
  }

  /** Reads a fenced block, from after its opening fence. */
  #readFence(at: number): number {
    language.lastIndex = at;
    const name = language.exec(this.#text)?.[0] ?? "";
    const start = at + name.length;
    const closing = this.#text.indexOf(fence, start);
    const inside = this.#text.slice(start, closing === -1 ? undefined : closing);
    this.#work += inside.length;
    return this.#readBlock(start, name.toLowerCase() === "json" || decisionWords.some((word) => inside.includes(word)));
  }

  /**
   * Reads a block. A block that is meant as a decision may need a repair at its start; every other block is read like prose.
   */
  #readBlock(start: number, isMeant: boolean): number {
    blanks.lastIndex = start;
    const at = start + (blanks.exec(this.#text)?.[0].length ?? 0);
    // Reading starts before the blanks, so that the reader sees a comment at the start of its line.
    const reading = this.#read(start);
    if (reading.kind !== "value") {
      return isMeant ? this.#noteUnreadable(reading, at) : at;
    }
    blockEnd.lastIndex = reading.end;
    const isBlock = blockEnd.test(this.#text);
    const isPart = isMeant && typeof reading.value === "object" && reading.value !== null;
    if (isPart || (isBlock && (isMeant || !reading.isRepaired || this.#isOpening(at)))) {
      this.#candidates.push({ value: reading.value, isBlock, isRepaired: reading.isRepaired });
      return reading.end;
    }
    if (isMeant) {
      this.#problem ??= { isCut: false, message: `a block that is not JSON, at offset ${at}` };
    }
    return at;
  }

  #readInProse(at: number): number {
    if (!this.#isOpening(at)) {
      return at + 1;
    }
    const reading = this.#read(at);
    if (reading.kind !== "value") {
      return this.#noteUnreadable(reading, at + 1);
    }
    this.#candidates.push({ value: reading.value, isBlock: false, isRepaired: reading.isRepaired });
    return reading.end;
  }

  /** Records a problem. Returns `next` for brackets of prose, and the end of the whole part when it was meant as JSON. */
  #noteUnreadable(reading: Unreadable, next: number): number {
    if (this.#problem === undefined || reading.kind === "cut") {
      this.#problem = { isCut: reading.kind === "cut", message: reading.problem };
    }
    if (!reading.hasMember) {
      // Too deep for this reading means too deep for the next ones too, so the scan continues where this reading stopped.
      return reading.depth === jsonDepthMax ? reading.at : next;
    }
    const closing = findClosing(this.#text, reading.at, reading.depth);
    const end = closing ?? this.#text.length;
    this.#work += end - reading.at;
    this.#isCut ||= closing === undefined;
    return end;
  }

  #read(at: number): Reading {
    const reading = readLenientJson(this.#text, at);
    this.#work += (reading.kind === "value" ? reading.end : reading.reach) - at;
    return reading;
  }

  #isOpening(at: number): boolean {
    opening.lastIndex = at;
    return opening.test(this.#text);
  }
}
