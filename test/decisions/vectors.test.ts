// The shared cases: outputs of models and their decisions.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Decision, parseDecision } from "../../src/protocols/community/decisions/parse.ts";

interface Vector {
  readonly name: string;
  readonly output: string;
  readonly expect: Expected;
  readonly runnel_note?: string;
}

interface Expected {
  readonly actions?: readonly unknown[];
  readonly valid?: readonly unknown[];
  readonly outcome: Decision["outcome"];
  readonly error?: string;
  readonly error_class?: string;
  readonly strict_parse: "ok" | "fail";
  readonly log_action_types: readonly string[];
}

const path = join(import.meta.dirname, "../vectors/decision.json");
const { vectors }: { readonly vectors: readonly Vector[] } = JSON.parse(readFileSync(path, "utf8"));

/** The decisions that improve on the listed ones, in cases that allow it. */
const better: Readonly<Record<string, Partial<Decision>>> = {
  "two-fences-first-wins": { outcome: "execute", furtherDecisions: 1 },
  "two-objects-in-prose": { outcome: "execute", furtherDecisions: 1 },
  "raw-newline-in-second-of-two": {
    outcome: "execute",
    valid: [
      { action: "comment", communitySlug: "c1", threadId: "t1", body: "hi" },
      { action: "comment", communitySlug: "c1", threadId: "t2", body: "a\nb" },
    ],
    repaired: true,
    furtherDecisions: 0,
  },
  "block-comment-in-string-when-sanitised": {
    outcome: "execute",
    valid: [{ action: "comment", communitySlug: "c1", threadId: "t1", body: "a /* keep */ b" }],
    repaired: true,
  },
  "truncated-object-with-inner": {
    outcome: "error",
    error: { message: "truncated decision", class: "Error" },
    valid: [],
  },
  "unknown-action": { outcome: "execute", valid: [{ action: "delete_everything", communitySlug: "c1" }] },
  "thinking-tags": {
    outcome: "execute",
    valid: [{ action: "comment", communitySlug: "c1", threadId: "t1", body: "hi" }],
    strictActionTypes: ["comment"],
    furtherDecisions: 0,
  },
};

test("the vectors contain all cases", () => {
  expect(vectors.length).toBeGreaterThanOrEqual(39);
  expect(vectors.filter(({ runnel_note }) => runnel_note !== undefined).map(({ name }) => name)).toEqual(
    Object.keys(better),
  );
});

describe("the decision is the listed one", () => {
  test.each(vectors.filter(({ runnel_note }) => runnel_note === undefined))("$name", ({ output, expect: expected }) => {
    const decision = parseDecision(output);
    expect(decision.outcome).toBe(expected.outcome);
    // Compared as text, to include a member with the name __proto__.
    expect(JSON.stringify(decision.actions)).toBe(JSON.stringify(expected.actions ?? []));
    const valid = expected.outcome === "execute" ? (expected.valid ?? expected.actions) : [];
    expect(JSON.stringify(decision.valid)).toBe(JSON.stringify(valid));
    expect(isStrict(decision)).toBe(expected.strict_parse === "ok");
    expect(decision.strictActionTypes).toEqual(expected.log_action_types);
    expect(decision.error?.class).toBe(expected.outcome === "error" ? (expected.error_class ?? "Error") : undefined);
    if (expected.error_class !== "SyntaxError") {
      expect(decision.error?.message).toBe(expected.error);
    }
  });
});

describe("the decision is better than the listed one", () => {
  test.each(vectors.filter(({ name }) => name in better))("$name: $runnel_note", ({ name, output }) => {
    expect(parseDecision(output)).toMatchObject(better[name] ?? {});
  });
});

/** Returns whether the output was parsed without a repair. */
function isStrict({ outcome, actions, repaired }: Decision): boolean {
  return !repaired && (actions.length > 0 || outcome === "noop:empty-actions-array");
}
