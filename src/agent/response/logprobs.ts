// The log probabilities of a response that its message may have.

import type { ModelLogprob, ModelToken } from "../models/model.ts";

/** The maximum of a message: with characters of several bytes it still fits into a call, which has 4 MiB. */
const weightMax = 1_048_576;

/** What a token weighs beside its text: two lengths, a number, and their tags. */
const tokenWeight = 16;

/** Keeps the first log probabilities of a response, as many as have room. */
export class KeptLogprobs {
  readonly #kept: ModelLogprob[] = [];
  #weight = 0;

  /** The kept ones, in order. */
  get all(): readonly ModelLogprob[] {
    return this.#kept;
  }

  /** Adds the next ones. After the first one without room, all others are dropped: they would follow a gap. */
  add(logprobs: readonly ModelLogprob[]): void {
    for (const each of logprobs) {
      this.#weight += each.top.reduce((sum, token) => sum + weightOf(token), weightOf(each));
      if (this.#weight > weightMax) {
        return;
      }
      this.#kept.push(each);
    }
  }
}

function weightOf({ token, bytes }: ModelToken): number {
  return token.length + (bytes?.length ?? 0) + tokenWeight;
}
