// Which actions of a model can be executed, and the errors of the others.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkAction } from "../../src/protocols/community/decisions/action.ts";
import { parseDecision } from "../../src/protocols/community/decisions/parse.ts";

const slug = { communitySlug: "c1" };
const comment = { action: "comment", ...slug, threadId: "t1", body: "hi" };
const tx = { action: "tx", ...slug, threadId: "t1", contractAddress: "0xAb", functionName: "mint", args: ["1"] };
const thread = { action: "create_thread", ...slug };
const newer = { newerActions: true };

/** Checks the first action in a model's output. */
function checkText(text: string): unknown {
  return parseDecision(text).actions.map((each) => checkAction(each))[0];
}

describe("the documented actions are accepted", () => {
  test("with all their fields", () => {
    const report = { ...thread, title: "T", body: "B", threadType: "REPORT_TO_HUMAN" };
    const paid = { ...tx, value: "1000000000000000000" };
    const status = { action: "set_request_status", ...slug, threadId: "t1", status: "resolved" };
    for (const action of [report, comment, paid, status]) {
      expect(checkAction(action)).toEqual(action);
    }
  });

  test("with defaults for missing and null fields", () => {
    const filled = { ...thread, title: "Agent update", body: "", threadType: "DISCUSSION" };
    expect(checkAction(thread)).toEqual(filled);
    expect(checkAction({ ...thread, title: null, body: null, threadType: null })).toEqual(filled);
    expect(checkAction({ ...thread, title: "" })).toEqual(filled);
    const { contractAddress: _, args: __, ...bare } = tx;
    expect(checkAction({ ...bare, value: null, contractAddress: "" })).toEqual({ ...bare, args: [] });
  });

  test("with trimmed names, in their exact case", () => {
    expect(checkAction({ ...comment, action: " comment\n" })).toEqual(comment);
    expect(checkAction({ ...comment, action: "Comment" })).toEqual({ error: "Unknown action" });
  });

  test("without unknown fields", () => {
    expect(checkAction({ ...comment, commentKind: "JOKE", title: 5 })).toEqual(comment);
  });

  test("with an unknown thread type replaced by a discussion, and the original kept", () => {
    const discussion = { ...thread, title: "Agent update", body: "", threadType: "DISCUSSION" };
    expect(checkAction({ ...thread, threadType: "RANT" })).toEqual({ ...discussion, unknownThreadType: "RANT" });
    expect(checkAction({ ...thread, threadType: "discussion" })).toMatchObject({ unknownThreadType: "discussion" });
    expect(checkAction({ ...thread, threadType: "SYSTEM" })).toMatchObject({ threadType: "SYSTEM" });
  });

  test("with a status in any case", () => {
    const action = { action: "set_request_status", ...slug, threadId: "t1" };
    expect(checkAction({ ...action, status: " Pending " })).toEqual({ ...action, status: "pending" });
  });
});

describe("the newer actions", () => {
  const source = { action: "request_contract_source", ...slug };
  const comments = { action: "request_thread_comments", ...slug, threadId: "t1" };

  test("are unknown unless they are enabled", () => {
    expect(checkAction({ ...source, contractId: "k1" })).toEqual({ error: "Unknown action" });
    expect(checkAction({ ...comments, commentLimit: 5 })).toEqual({ error: "Unknown action" });
  });

  test("are accepted with all their fields", () => {
    for (const action of [
      { ...source, contractId: "k1" },
      { ...source, contractAddress: "0xAb" },
      { ...comments, commentLimit: 5 },
      { ...comment, commentKind: "JOKE" },
      tx,
    ]) {
      expect(checkAction(action, newer)).toEqual(action);
    }
    expect(checkAction(comments, newer)).toEqual({ ...comments, commentLimit: 20 });
    expect(checkAction({ ...comments, commentLimit: 5_000 }, newer)).toEqual({ ...comments, commentLimit: 200 });
    expect(checkAction({ ...comment, commentKind: "RANT" }, newer)).toEqual({ ...comment, commentKind: "DISCUSSION" });
  });

  test.each([
    [source, "contractId or contractAddress is required"],
    [{ ...source, contractId: " ", contractAddress: null }, "contractId or contractAddress is required"],
    [
      { ...source, contractId: "k1", contractAddress: "0xAb" },
      "Provide either contractId or contractAddress, not both.",
    ],
    [{ ...comments, threadId: "" }, "threadId is missing: give the id of a thread"],
    [{ ...comments, commentLimit: 0 }, "commentLimit must be a whole number from 1 to 200"],
    [{ ...comments, commentLimit: "20" }, "commentLimit must be a whole number from 1 to 200"],
    [{ ...comments, commentLimit: 2.5 }, "commentLimit must be a whole number from 1 to 200"],
    [{ ...comment, commentKind: 1 }, "commentKind must be a string, not a number: put it in double quotes"],
  ])("%j cannot be executed: %s", (raw, error) => {
    expect(checkAction(raw, newer)).toEqual({ error });
  });
});

describe("D12: an action that cannot be executed gives the reason", () => {
  const status = "status must be 'pending' or 'resolved'";
  const wei = 'value must be wei in decimal digits, at most 2^256 - 1: use a decimal string such as "1000"';
  test.each([
    [null, "an action must be a JSON object, not null"],
    ["comment", "an action must be a JSON object, not a string"],
    [[comment], "an action must be a JSON object, not a list"],
    [{ ...comment, action: "delete_everything" }, "Unknown action"],
    [{ ...comment, action: 5 }, "Unknown action"],
    [{ ...comment, action: "toString" }, "Unknown action"],
    [{ ...comment, action: "__proto__" }, "Unknown action"],
    [slug, "Unknown action"],
    [{ ...comment, communitySlug: 7 }, "communitySlug must be a string, not a number: put it in double quotes"],
    [{ ...comment, communitySlug: " " }, "communitySlug is missing: give the slug of the community"],
    [{ action: "comment", ...slug, body: "x" }, "threadId is missing: give the id of a thread"],
    [{ ...comment, threadId: " " }, "threadId is missing: give the id of a thread"],
    [{ ...comment, threadId: 12 }, "threadId must be a string, not a number: put it in double quotes"],
    [{ ...comment, body: null }, "body is missing: give the text of the comment"],
    [{ ...comment, body: { text: "x" } }, "body must be a string, not an object: put it in double quotes"],
    [{ ...comment, body: "a\0b" }, "body contains U+0000 or half of a surrogate pair: remove it"],
    [{ ...comment, body: "a\ud800b" }, "body contains U+0000 or half of a surrogate pair: remove it"],
    [{ ...thread, title: 5 }, "title must be a string, not a number: put it in double quotes"],
    [{ ...thread, title: true }, "title must be a string, not a boolean: put it in double quotes"],
    [{ ...thread, threadType: [] }, "threadType must be a string, not a list: put it in double quotes"],
    [{ ...tx, threadId: undefined }, "threadId is missing: give the id of a thread"],
    [{ ...tx, functionName: "" }, "functionName is missing: give the name of a function of the contract"],
    [{ ...tx, contractAddress: 0xab }, "contractAddress must be a string, not a number: put it in double quotes"],
    [{ ...tx, args: "1" }, "args must be a list, not a string"],
    [{ ...tx, args: { to: "1" } }, "args must be a list, not an object"],
    [{ ...tx, args: [0.5] }, "args[0]: use a decimal string"],
    [{ ...tx, value: "0x10" }, wei],
    [{ ...tx, value: "-1" }, wei],
    [{ ...tx, value: "1.5" }, wei],
    [{ ...tx, value: "1 ether" }, wei],
    [{ ...tx, value: -1 }, wei],
    [{ ...tx, value: (2n ** 256n).toString() }, wei],
    [{ ...tx, value: "9".repeat(1_000_000) }, wei],
    [{ ...tx, value: 1.5 }, "value: use a decimal string"],
    [{ ...tx, value: true }, "value must be a decimal string, not a boolean"],
    [{ ...tx, value: ["1"] }, "value must be a decimal string, not a list"],
    [{ action: "set_request_status", ...slug, threadId: "t1" }, status],
    [{ action: "set_request_status", ...slug, threadId: "t1", status: "rejected" }, status],
    [{ action: "set_request_status", ...slug, status: "resolved" }, "threadId is missing: give the id of a thread"],
  ])("%#: %j", (raw, error) => {
    expect(checkAction(raw as never)).toEqual({ error });
  });
});

describe("D13: no amount is rounded", () => {
  test("a wei amount stays the written number, as text", () => {
    const most = (2n ** 256n - 1n).toString();
    expect(checkAction({ ...tx, value: most })).toMatchObject({ value: most });
    expect(checkAction({ ...tx, value: " 0042 " })).toMatchObject({ value: "42" });
    expect(checkAction({ ...tx, value: 42 })).toMatchObject({ value: "42" });
    expect(checkAction({ ...tx, value: 0 })).toMatchObject({ value: "0" });
    expect(checkAction({ ...tx, value: "" })).not.toHaveProperty("value");
  });

  test.each(["9007199254740992", "9007199254740993", "1000000000000000000", "1e18", "1e400", "1.00000000000000000001"])(
    "%s as a number in a model's text is refused in every field",
    (number) => {
      const text = (fields: string): string =>
        `{"action":"tx","communitySlug":"c1","threadId":"t1","functionName":"f",${fields}}`;
      expect(checkText(text(`"value":${number}`))).toEqual({ error: "value: use a decimal string" });
      expect(checkText(text(`"args":["a",${number}]`))).toEqual({ error: "args[1]: use a decimal string" });
      expect(checkText(text(`"args":[{"to":[1,-${number}]}]`))).toEqual({
        error: "args[0].to[1]: use a decimal string",
      });
      expect(checkText(text(`"args":["${number}"]`))).toMatchObject({ args: [number] });
    },
  );

  test("exact numbers stay numbers in the arguments", () => {
    const args = [9007199254740991, -9007199254740991, 0, true, null, { a: ["x", 1] }];
    expect(checkAction({ ...tx, args })).toMatchObject({ args });
  });
});

test("any input gives an action or an error, and never throws", () => {
  const odd = fc.jsonValue({ maxDepth: 3 });
  const names = [
    "create_thread",
    "comment",
    "tx",
    "set_request_status",
    "request_contract_source",
    "request_thread_comments",
  ];
  const fields = [
    "communitySlug",
    "threadId",
    "title",
    "body",
    "threadType",
    "args",
    "value",
    "functionName",
    "status",
  ];
  const some = fc.oneof(odd, fc.constantFrom("c1", "t1", "pending", "1"));
  const raw = fc.tuple(
    fc.constantFrom(...names),
    fc.dictionary(fc.constantFrom(...fields, "contractId", "commentLimit"), some),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        odd,
        raw.map(([action, rest]) => ({ ...rest, action })),
      ),
      fc.boolean(),
      (value, newerActions) => {
        const checked = checkAction(value as never, { newerActions });
        expect("error" in checked ? checked.error : checked.communitySlug).toMatch(/\S/);
      },
    ),
    { numRuns: 2_000 },
  );
});
