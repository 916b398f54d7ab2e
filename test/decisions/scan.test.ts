// Which part of a text is the decision.

import { describe, expect, test } from "vitest";
import { decisionBytesMax, parseDecision } from "../../src/protocols/community/decisions/parse.ts";

const comment = { action: "comment", communitySlug: "c1", threadId: "t1", body: "hi" };
const thread = { action: "create_thread", communitySlug: "c1", title: "T", body: "B" };
const a = JSON.stringify(comment);
const b = JSON.stringify(thread);

function decided(output: string): unknown {
  const { outcome, valid, error } = parseDecision(output);
  return outcome === "execute" ? valid : (error?.message ?? outcome);
}

/** The error of a failed decision, and its counts of actions, which must be 0. */
function failure(output: string): { class: string | undefined; valid: number; actions: number } {
  const { outcome, error, valid, actions } = parseDecision(output);
  expect(outcome).toBe("error");
  return { class: error?.class, valid: valid.length, actions: actions.length };
}

const unread = { class: "SyntaxError", valid: 0, actions: 0 };
const noValid = "LLM decision does not include valid actions";
const cut = "truncated decision";

describe("D1: which decision counts", () => {
  test("a text that is JSON as a whole is the decision, with any text in its strings", () => {
    const quoting = { ...comment, body: `as in \`\`\`json\n${b}\n\`\`\` or [] or <think>` };
    expect(decided(JSON.stringify([quoting]))).toEqual([quoting]);
    expect(decided(`My answer: ${JSON.stringify(quoting)}`)).toEqual([quoting]);
  });

  test("a part without a valid action is skipped when another part has one", () => {
    expect(decided(`See [1] and {"x": 1}, [] and null: ${a}`)).toEqual([comment]);
    expect(decided(`\`\`\`json\n{"example": true}\n\`\`\`\n\`\`\`json\n${a}\n\`\`\``)).toEqual([comment]);
    expect(decided(`\`\`\`\n[]\n\`\`\` would do nothing, so:\n${a}`)).toEqual([comment]);
  });

  test("without any valid action the first part gives the error", () => {
    expect(decided('Nothing to do: [] (and not {"x": 1})')).toBe("noop:empty-actions-array");
    expect(decided('Like {"x": 1}, so []')).toBe(noValid);
    expect(decided("```json\n[]\n```")).toBe("noop:empty-actions-array");
    expect(decided("{}")).toBe(noValid);
    expect(decided("```\nnull\n```")).toBe(noValid);
  });

  test("a fenced block precedes JSON in prose, even when it needs a repair", () => {
    expect(decided(`Somebody wrote ${a} there.\n\`\`\`json\n${b}\n\`\`\``)).toEqual([thread]);
    expect(decided(`Somebody wrote ${a} there.\n\`\`\`json\n[${b.replace("B", "B\n")},]\n\`\`\``)).toEqual([
      { ...thread, body: "B\n" },
    ]);
  });

  test("JSON that needs no repair precedes JSON that does", () => {
    expect(decided(`First {"action":"x","communitySlug":"c1",} then ${a}`)).toEqual([comment]);
  });

  test("further decisions are counted", () => {
    expect(parseDecision(`${a}\n${b}\n{"x":1}\n${a}`)).toMatchObject({ valid: [comment], furtherDecisions: 2 });
    expect(parseDecision(a).furtherDecisions).toBe(0);
    expect(parseDecision('{"x":1} {"y":2}').furtherDecisions).toBe(0);
  });

  test("a list as a whole is read before its entries", () => {
    expect(parseDecision(`[${a},\n${b},\n]`)).toMatchObject({ valid: [comment, thread], furtherDecisions: 0 });
    expect(decided(`I will do [${a}, ${b.replace("B", "B\r\nC")}] now.`)).toEqual([
      comment,
      { ...thread, body: "B\nC" },
    ]);
  });
});

describe("fences", () => {
  test.each(["json", "JSON", "", "js", "json5", "text title=x"])("are read in language %j", (language) => {
    expect(decided(`Decision:\n\`\`\`${language}\n${a}\n\`\`\`\nBye.`)).toEqual([comment]);
  });

  test("are read on one line, without an end, with more backticks, and with a fence in a string", () => {
    const quoting = { ...comment, body: "```js\nx()\n```" };
    expect(decided(`\`\`\`json ${a} \`\`\``)).toEqual([comment]);
    expect(decided(`\`\`\`${a}\`\`\``)).toEqual([comment]);
    expect(decided(`Here:\n\`\`\`json\n${a}`)).toEqual([comment]);
    expect(decided(`\`\`\`\`json\n${a}\n\`\`\`\``)).toEqual([comment]);
    expect(decided(`Here:\n\`\`\`json\n${JSON.stringify(quoting)}\n\`\`\``)).toEqual([quoting]);
  });

  test("with an invalid decision fail the cycle; others are prose", () => {
    expect(failure("```json\nnothing to do\n```")).toEqual(unread);
    expect(failure("```json\n```")).toEqual(unread);
    expect(failure("```\n{“threadId” = “t1”}\n```")).toEqual(unread);
    expect(decided("```js\nfor (;;) { next }\n```")).toBe("noop:plain-text");
    expect(decided("```\n{ slug }\n```")).toBe("noop:plain-text");
  });

  test("may hold prose", () => {
    expect(decided(`\`\`\`json\nMy decision: ${a}\n\`\`\``)).toEqual([comment]);
    expect(decided(`\`\`\`json\n${a}\nThat is all.\n\`\`\``)).toEqual([comment]);
  });
});

describe("prose", () => {
  test("without JSON is a decision to do nothing", () => {
    expect(decided("Nothing.")).toBe("noop:plain-text");
    expect(decided("Use {slug}, { } of (x) or 'y': \"z\"")).toBe(noValid);
    expect(decided("Use {slug} or (x)")).toBe("noop:plain-text");
    expect(decided("“Quoted”")).toBe("noop:plain-text");
  });

  test("with brackets that begin like JSON is an error, not a decision to do nothing", () => {
    expect(failure("[no action is needed]")).toEqual(unread);
  });

  test("with brackets around and before a decision does not hide it", () => {
    expect(decided(`[note: ${a}]`)).toEqual([comment]);
    expect(decided(`[1 or [2 or ["x or {"y ${a}`)).toEqual([comment]);
    expect(decided(`in [ "quoted" } order ] ${a}`)).toEqual([comment]);
  });
});

describe("S1, S2: a partial decision is never executed", () => {
  test.each([
    ["in a string", `[${a},{"action":"tx","communitySlug":"c1","body":"unf`],
    ["behind a name", `[${a},{"action":`],
    ["in a word", `{"action":"tx","communitySlug":"c1","x":tr`],
    ["in a number", `{"action":"tx","communitySlug":"c1","x":[${a},-`],
    ["in a comment", `{"action":"tx","communitySlug":"c1", /* because`],
    ["behind a backslash", '{"action":"tx","communitySlug":"c1","body":"\\'],
    ["in a block", `See ${a}\n\`\`\`json\n{"action":"tx","communitySlug":"c1"`],
    ["in a block that is closed", `\`\`\`json\n[${a},{"action":"tx"\n\`\`\``],
    ["behind a decision", `${a}\n{"action":"tx","comm`.replace("comm", 'communitySlug":')],
    ["among entries", `[${a},`],
    ["between lists", "[[],"],
    ["in a name", '{"acti'],
    ["in thoughts", `<think>maybe ${a}`],
  ])("a text that is cut %s", (_, output) => {
    expect(decided(output)).toBe(cut);
    expect(parseDecision(output).actions).toEqual([]);
  });

  test("every prefix of a list of two decisions executes nothing", () => {
    const output = `[${a},${b}]`;
    for (let length = 1; length < output.length; length++) {
      expect(parseDecision(output.slice(0, length))).toMatchObject({ outcome: "error", valid: [] });
    }
    expect(decided(output)).toEqual([comment, thread]);
  });

  test("the contents of an invalid decision are not executed", () => {
    expect(failure(`[${a},{"action":"tx","communitySlug":"c1","body":None},${b}]`)).toEqual(unread);
    expect(failure(`{"action":"tx","communitySlug":"c1","then":[${a}],"body":None}`)).toEqual(unread);
    expect(failure(`{"body": None, "then": ${a}}`)).toEqual(unread);
    expect(failure(`{"body": "a\tb", "then": ${a}}`)).toEqual(unread);
  });

  test("a valid decision may follow an invalid one", () => {
    expect(decided(`The form is {"action": "comment", ...}.\n${a}`)).toEqual([comment]);
    expect(decided(`{"action":"comment","body":'it {is}'} ${a}`)).toEqual([comment]);
  });
});

describe("thoughts", () => {
  test("at the beginning are not part of the answer", () => {
    expect(decided(`<think>\n${b}\n</think>\n\n${a}`)).toEqual([comment]);
    expect(decided(`<Thinking>[${b}</THINKING>[]`)).toBe("noop:empty-actions-array");
    expect(decided(`<think>${b}</think> I do nothing.`)).toBe("noop:plain-text");
    expect(decided(`<think>${b}</think>`)).toBe("Empty LLM output");
  });
});

describe("limits", () => {
  test("a text above 1 MiB is an error", () => {
    expect(decided("x".repeat(decisionBytesMax))).toBe("noop:plain-text");
    expect(decided("x".repeat(decisionBytesMax + 1))).toBe("LLM output is larger than 1 MiB");
    expect(decided("€".repeat(decisionBytesMax / 2))).toBe("LLM output is larger than 1 MiB");
  });

  test("nesting is limited", () => {
    const nested = (levels: number): string =>
      `{"action":"tx","communitySlug":"c","args":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(parseDecision(nested(99)).outcome).toBe("execute");
    expect(failure(nested(100))).toEqual(unread);
  });

  test("an empty text is an error", () => {
    expect(decided(" \u00a0\ufeff\n")).toBe("Empty LLM output");
  });
});

test("a wrapper is opened only when the model was asked for one", () => {
  const output = JSON.stringify({ actions: [comment] });
  expect(parseDecision(output).error?.message).toBe(noValid);
  expect(parseDecision(output, { isWrapped: true })).toMatchObject({ outcome: "execute", valid: [comment] });
  expect(parseDecision('{"actions":[]}', { isWrapped: true }).outcome).toBe("noop:empty-actions-array");
  expect(parseDecision(a, { isWrapped: true }).valid).toEqual([comment]);
  expect(parseDecision(`{"actions":[${a}],"more":1}`, { isWrapped: true }).error?.message).toBe(noValid);
});
