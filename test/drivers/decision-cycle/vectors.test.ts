// The shared cases as answers of a model: the outcome of the cycle.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseDecision } from "../../../src/protocols/community/decisions/parse.ts";
import { setStage } from "./stage.ts";

interface Vector {
  readonly name: string;
  readonly output: string;
  readonly expect: {
    readonly outcome: string;
    readonly valid?: readonly object[];
    readonly actions?: readonly object[];
  };
  readonly runnel_note?: string;
}

const path = join(import.meta.dirname, "../../vectors/decision.json");
const { vectors }: { readonly vectors: readonly Vector[] } = JSON.parse(readFileSync(path, "utf8"));

test("each shared case ends its cycle with its outcome, and nothing is done in a community that the model was not shown", async () => {
  const stage = await setStage();
  const ends: [string, unknown][] = [];
  for (const { name, output } of vectors) {
    stage.say(output);
    const { result } = await stage.cycle();
    const errors = result.actions?.map(({ error }: { error?: string }) => error);
    ends.push([name, result.ok ? { ok: true, errors } : result]);
  }
  expect(ends).toEqual(vectors.map((vector) => [vector.name, expectedEnd(vector)]));
  expect(await stage.forum.query("select id from forum_thread union all select id from forum_comment")).toEqual([]);
  const [row] = await stage.query(
    "select count(*)::int as count from communication where direction = 'agent_to_runner'",
  );
  expect(row?.count).toBe(vectors.length);
});

function expectedEnd({ output, expect: { outcome, valid, actions = [] }, runnel_note }: Vector): unknown {
  const decision = parseDecision(output);
  if (runnel_note === undefined) {
    expect(decision.outcome).toBe(outcome);
    expect(decision.valid).toHaveLength(outcome === "execute" ? (valid ?? actions).length : 0);
  }
  return decision.outcome === "error"
    ? { ok: false, error: decision.error?.message }
    : {
        ok: true,
        errors: decision.valid.map(() =>
          expect.stringMatching(/^(Community not in context|Unknown action|.* is missing: .*)$/),
        ),
      };
}
