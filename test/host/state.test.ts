// State: values are stored unchanged, and belong to their scope.

import { expect } from "vitest";
import { invalid, method, openStage, refusalOf, test, tooLarge, unauthorized } from "./stage.ts";

test("a stored null is found, and a missing key is not", async () => {
  const runner = await (await openStage()).addRunner();
  await runner.call(method.setState, { scope: "runner", key: "empty", value: "null" });
  expect(await runner.call(method.getState, { scope: "runner", key: "empty" })).toMatchObject({
    found: true,
    value: "null",
  });
  const missing = await runner.call(method.getState, { scope: "runner", key: "missing" });
  expect(missing.found).toBe(false);
  expect(missing.value).toBeUndefined();
  expect(await runner.call(method.deleteState, { scope: "runner", key: "empty" })).toMatchObject({ deleted: true });
  expect(await runner.call(method.deleteState, { scope: "runner", key: "empty" })).toMatchObject({ deleted: false });
});

test("values are unchanged except for surrounding white space", async () => {
  const runner = await (await openStage()).addRunner();
  for (const value of [
    "9007199254740993",
    "1",
    "1.0",
    "1e2",
    '{ "b": 1, "a": [2.50, "\\u00e4ä"], "b": 2 }',
    '"\\ud83d\\ude00"',
  ]) {
    await runner.call(method.setState, { scope: "actor", key: "value", value: ` \r\n\t${value}\n ` });
    expect((await runner.call(method.getState, { scope: "actor", key: "value" })).value).toBe(value);
  }
});

test("invalid JSON, and JSON that cannot be stored, is refused and changes nothing", async () => {
  const runner = await (await openStage()).addRunner();
  await runner.call(method.setState, { scope: "actor", key: "value", value: "1" });
  const bad = ["", "  ", "NaN", "Infinity", "-Infinity", "[NaN]", "undefined", "1 2", "{'a':1}", "[1,]", '"\\u0000"'];
  const halves = ['"\\ud800"', '{"\\udc00":1}', '{"a":["\\udfff"]}'];
  const deep = ["[".repeat(101) + "]".repeat(101), `${'{"a":'.repeat(120)}1${"}".repeat(120)}`];
  for (const value of [...bad, ...halves, ...deep]) {
    expect(await refusalOf(runner.call(method.setState, { scope: "actor", key: "value", value }))).toMatchObject(
      invalid,
    );
  }
  expect((await runner.call(method.getState, { scope: "actor", key: "value" })).value).toBe("1");
  const nested = "[".repeat(100) + "]".repeat(100);
  await runner.call(method.setState, { scope: "actor", key: "value", value: nested });
});

test("a value may have at most 262,144 bytes", async () => {
  const runner = await (await openStage()).addRunner();
  const largest = `"${"ä".repeat(131_071)}"`;
  expect(Buffer.byteLength(largest)).toBe(262_144);
  await runner.call(method.setState, { scope: "actor", key: "large", value: ` ${largest} ` });
  expect((await runner.call(method.getState, { scope: "actor", key: "large" })).value).toBe(largest);
  const larger = `"${"ä".repeat(131_071)}a"`;
  expect(await refusalOf(runner.call(method.setState, { scope: "actor", key: "large", value: larger }))).toMatchObject(
    tooLarge,
  );
  expect((await runner.call(method.getState, { scope: "actor", key: "large" })).value).toBe(largest);
});

test("the size is checked before the grant", async () => {
  const runner = await (await openStage()).addRunner({ grant: { stateScopes: [] } });
  const value = `"${"a".repeat(262_143)}"`;
  expect(await refusalOf(runner.call(method.setState, { scope: "actor", key: "a", value }))).toMatchObject(tooLarge);
});

test("a key has 1 to 255 characters of any kind except control characters", async () => {
  const runner = await (await openStage()).addRunner();
  for (const key of ["a".repeat(255), "😀".repeat(255), "with blank", "__proto__", "%", "'; --"]) {
    await runner.call(method.setState, { scope: "actor", key, value: "1" });
    expect((await runner.call(method.getState, { scope: "actor", key })).found).toBe(true);
  }
  for (const key of ["", "a".repeat(256), "😀".repeat(256), "a\nb", "a\0b", "\u007f", "\u0085"]) {
    expect(await refusalOf(runner.call(method.setState, { scope: "actor", key, value: "1" }))).toMatchObject(invalid);
    expect(await refusalOf(runner.call(method.getState, { scope: "actor", key }))).toMatchObject(invalid);
  }
});

test("scopes that are unknown or not granted are refused, and so is all state without the state API", async () => {
  const stage = await openStage();
  const runner = await stage.addRunner({ grant: { stateScopes: ["conversation"] } });
  for (const scope of ["actor", "subject", "runner", "workspace", "", "constructor"]) {
    expect(await refusalOf(runner.call(method.setState, { scope, key: "a", value: "1" }))).toMatchObject(unauthorized);
    expect(await refusalOf(runner.call(method.listState, { scope }))).toMatchObject(unauthorized);
  }
  const without = await stage.addRunner({ grant: { apis: [] } });
  expect(await refusalOf(without.call(method.getState, { scope: "actor", key: "a" }))).toMatchObject(unauthorized);
});

test("a scope that the event does not have is invalid", async ({ stage }) => {
  const scope = { actor: undefined, subject: undefined, conversationId: undefined };
  const runner = await stage.addRunner({ scope });
  // A grant of the existing scopes only gives the same answer.
  const narrow = await stage.addRunner({ scope, grant: { stateScopes: ["runner"] } });
  for (const who of [runner, narrow]) {
    for (const word of ["actor", "subject", "conversation"]) {
      const refusal = await refusalOf(who.call(method.getState, { scope: word, key: "a" }));
      expect(refusal).toMatchObject(invalid);
      expect(refusal.message).toContain(`event has no ${word}`);
    }
  }
  await runner.call(method.setState, { scope: "runner", key: "a", value: "1" });
});

test("the state of a conversation is separate for each binding, thread and runner", async ({ stage }) => {
  const writer = await stage.addRunner();
  await writer.call(method.setState, { scope: "conversation", key: "a", value: "1" });
  const found = async (scope: object): Promise<boolean> => {
    const reader = await stage.addRunner({ scope });
    return (await reader.call(method.getState, { scope: "conversation", key: "a" })).found;
  };
  expect(await found({})).toBe(true);
  expect(await found({ bindingId: "another" })).toBe(false);
  expect(await found({ threadId: "thread" })).toBe(false);
  expect(await found({ runnerId: "plugin:author/name/another" })).toBe(false);
  expect(await found({ botId: undefined })).toBe(false);
  expect(await found({ actor: { type: "user", id: "another" } })).toBe(true);
});

test("an actor's state is the same in every conversation, and hidden from other actors", async ({ stage }) => {
  const writer = await stage.addRunner();
  await writer.call(method.setState, { scope: "actor", key: "a", value: "1" });
  const elsewhere = await stage.addRunner({ scope: { conversationId: "another", threadId: "thread" } });
  expect((await elsewhere.call(method.getState, { scope: "actor", key: "a" })).found).toBe(true);
  const stranger = await stage.addRunner({ scope: { actor: { type: "user", id: "stranger" } } });
  expect((await stranger.call(method.getState, { scope: "actor", key: "a" })).found).toBe(false);
  const nameless = await stage.addRunner({ scope: { actor: { type: "user" } } });
  expect((await nameless.call(method.getState, { scope: "actor", key: "a" })).found).toBe(false);
});

test("a prefix is taken literally, and keys are listed in byte order", async () => {
  const runner = await (await openStage()).addRunner();
  for (const key of ["a_1", "ab1", "100%", "100x", "B", "a", "ä", "😀", "\uff5e"]) {
    await runner.call(method.setState, { scope: "runner", key, value: "1" });
  }
  const list = async (prefix: string) => (await runner.call(method.listState, { scope: "runner", prefix })).keys;
  expect(await list("a_")).toEqual(["a_1"]);
  expect(await list("100%")).toEqual(["100%"]);
  expect(await list("A")).toEqual([]);
  expect(await list("a\0")).toEqual([]);
  expect(await list("")).toEqual(["100%", "100x", "B", "a", "a_1", "ab1", "ä", "\uff5e", "😀"]);
});

test("a list has at most a hundred keys and says whether there are more", async () => {
  const runner = await (await openStage()).addRunner();
  const keys = Array.from({ length: 101 }, (_, index) => `key ${String(index).padStart(3, "0")}`);
  await Promise.all(keys.map((key) => runner.call(method.setState, { scope: "runner", key, value: "1" })));
  for (const limit of [0, 100, 10_000]) {
    const listed = await runner.call(method.listState, { scope: "runner", limit });
    expect(listed).toMatchObject({ keys: keys.slice(0, 100), hasMore: true });
  }
  expect(await runner.call(method.listState, { scope: "runner", limit: 3 })).toMatchObject({
    keys: keys.slice(0, 3),
    hasMore: true,
  });
  expect(await runner.call(method.listState, { scope: "runner", prefix: "key 1" })).toMatchObject({
    keys: ["key 100"],
    hasMore: false,
  });
  expect(await refusalOf(runner.call(method.listState, { scope: "runner", limit: -1 }))).toMatchObject(invalid);
});

test("conversation_id is an alias of external.conversation_id, in the conversation's state only", async () => {
  const runner = await (await openStage()).addRunner();
  await runner.call(method.setState, { scope: "conversation", key: "conversation_id", value: '"theirs"' });
  const read = (scope: string, key: string) => runner.call(method.getState, { scope, key });
  expect((await read("conversation", "external.conversation_id")).value).toBe('"theirs"');
  expect((await read("conversation", "conversation_id")).value).toBe('"theirs"');
  expect((await runner.call(method.listState, { scope: "conversation" })).keys).toEqual(["external.conversation_id"]);
  await runner.call(method.setState, { scope: "actor", key: "conversation_id", value: "1" });
  expect((await read("actor", "external.conversation_id")).found).toBe(false);
});
