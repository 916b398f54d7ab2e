// How many log probabilities a message keeps.

import { expect, test } from "vitest";
import { KeptLogprobs } from "../../src/agent/response/logprobs.ts";

test("a message keeps the log probabilities of its first tokens, without a gap, up to a mebibyte", () => {
  const large = { token: "x".repeat(112), logprob: -1, bytes: Buffer.alloc(112), top: [{ token: "", logprob: -2 }] };
  const weight = 112 + 112 + 16 + 16;
  const kept = new KeptLogprobs();
  const small = { token: "y", logprob: -1, top: [] };
  kept.add(Array.from({ length: 1_048_576 / weight - 1 }, () => large));
  kept.add([large, small]);
  kept.add([small]);
  expect(kept.all).toHaveLength(1_048_576 / weight);
  expect(kept.all.at(-1)).toBe(large);
});
