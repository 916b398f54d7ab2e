// What in a model's text may be its decision: the whole text, fenced blocks, and JSON in the middle of prose.
// S1  What is inside of a decision that cannot be read is no decision of its own: nothing is executed by halves.
// S2  A decision that is begun and never closed is cut, whatever else the text holds.
// S3  The work is linear in the length of the text: beyond `workFactor` or `candidatesMax` the scan gives up.

import { jsonDepthMax } from "../../../platform/base/json/text.ts";
import type { Json } from "./json.ts";
import { findClosing, type Reading, readLenientJson, type Unreadable } from "./reader.ts";

export interface Scan {
  readonly candidates: readonly Candidate[];
  /** Of the first part that began like JSON and is none, or of one that was cut. */
  readonly problem: Problem | undefined;
  readonly isCut: boolean;
  readonly isExhausted: boolean;
  /** Characters that were looked at, those that were looked at again included. */
  readonly work: number;
}

export interface Candidate {
  readonly value: Json;
  /** The whole text, or all that a fenced block holds. */
  readonly isBlock: boolean;
  readonly isRepaired: boolean;
}

export interface Problem {
  readonly isCut: boolean;
  readonly message: string;
}

/** The text is trimmed. */
export function scanDecisions(text: string): Scan {
  return new Scanner(text).scan();
}

/** A text that a model wrote is looked at once or twice; only brackets without end, inside each other, take more. */
const workFactor = 8;
/** Short texts may be as odd as they like. */
const workFree = 4096;
/** A text with more of them than this is no answer to anything. */
const candidatesMax = 1_000;

const interesting = /[[{]|`{3,}/g;
/** How JSON has to begin in prose, so that `{slug}` is none; a bracket that ends the text may have been about to. */
const opening = /\{\s*(?:["}[]|$)|\[\s*(?:[{[\]"\-\dtfn]|$)/y;
const language = /[^\s`{["]*/y;
const blanks = /\s*/y;
const blockEnd = /\s*(?:$|`{3})/y;
const fence = "```";
/** A block that names one of these is meant as a decision, whatever its language. */
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

  /** Gives where to go on. */
  #readWhole(): number {
    const reading = this.#read(0);
    const isWhole = reading.kind === "value" && reading.end === this.#text.length;
    if (!isWhole || (reading.isRepaired && !this.#isOpening(0))) {
      return 0;
    }
    this.#candidates.push({ value: reading.value, isBlock: true, isRepaired: reading.isRepaired });
    return reading.end;
  }

  /** Behind a fence that opens. */
  #readFence(at: number): number {
    language.lastIndex = at;
    const name = language.exec(this.#text)?.[0] ?? "";
    const start = at + name.length;
    const closing = this.#text.indexOf(fence, start);
    const inside = this.#text.slice(start, closing === -1 ? undefined : closing);
    this.#work += inside.length;
    return this.#readBlock(start, name.toLowerCase() === "json" || decisionWords.some((word) => inside.includes(word)));
  }

  /** What is meant as a decision may begin with what has to be repaired; all else is looked at as prose is. */
  #readBlock(start: number, isMeant: boolean): number {
    blanks.lastIndex = start;
    const at = start + (blanks.exec(this.#text)?.[0].length ?? 0);
    // From before the blanks: there the reader sees that a comment begins its line.
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

  /** Brackets of prose are passed one by one, to `next`; what was meant as JSON is passed as a whole. */
  #noteUnreadable(reading: Unreadable, next: number): number {
    if (this.#problem === undefined || reading.kind === "cut") {
      this.#problem = { isCut: reading.kind === "cut", message: reading.problem };
    }
    if (!reading.hasMember) {
      // What is nested too deep for one reading is so for the next one too: that begins where this one stopped.
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
