// Storage: values are written in pieces and read in ranges, and readers never see a partial value.

import { expect } from "vitest";
import { StorageArea } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { invalid, method, openStage, type Runner, refusalOf, test, tooLarge, unauthorized } from "./stage.ts";

const area = StorageArea.PLUGIN;
const mebibyte = 1_048_576;

async function write(runner: Runner, key: string, offset: number, content: Uint8Array, finish = false): Promise<void> {
  await runner.call(method.writeStorage, { area, key, offset: BigInt(offset), content, finish });
}

async function read(runner: Runner, key: string): Promise<string | undefined> {
  const { found, content } = await runner.call(method.readStorage, { area, key });
  return found ? Buffer.from(content).toString() : undefined;
}

test("the grants of plugin storage and of workspace storage are separate", async ({ stage }) => {
  const plugin = await stage.addRunner({ grant: { workspaceStorage: false } });
  await write(plugin, "a", 0, Buffer.from("1"), true);
  const inWorkspace = { area: StorageArea.WORKSPACE, key: "a" };
  const refusals = await Promise.all([
    refusalOf(plugin.call(method.readStorage, inWorkspace)),
    refusalOf(plugin.call(method.writeStorage, { ...inWorkspace, finish: true })),
    refusalOf(plugin.call(method.deleteStorage, inWorkspace)),
    refusalOf(plugin.call(method.listStorage, { area: StorageArea.WORKSPACE })),
  ]);
  for (const refusal of refusals) {
    expect(refusal).toMatchObject(unauthorized);
  }
  const workspace = await stage.addRunner({ grant: { pluginStorage: false } });
  expect(await refusalOf(read(workspace, "a"))).toMatchObject(unauthorized);
  expect(await workspace.call(method.readStorage, inWorkspace)).toMatchObject({ found: false });
});

test("runners of a plugin share its storage, plugins are separate, and a workspace's storage is for all plugins", async () => {
  const stage = await openStage();
  const writer = await stage.addRunner();
  await write(writer, "a", 0, Buffer.from("ours"), true);
  const shared = { area: StorageArea.WORKSPACE, key: "a" };
  await writer.call(method.writeStorage, { ...shared, content: Buffer.from("all"), finish: true });
  const sister = await stage.addRunner({ scope: { runnerId: "plugin:author/name/sister", workspaceId: "other" } });
  expect(await read(sister, "a")).toBe("ours");
  expect((await sister.call(method.readStorage, shared)).found).toBe(false);
  const stranger = await stage.addRunner({ scope: { runnerId: "plugin:author/another/runner" } });
  expect(await read(stranger, "a")).toBeUndefined();
  expect((await stranger.call(method.readStorage, shared)).found).toBe(true);
});

test("an event without a workspace has no workspace storage, and an unknown area is invalid", async ({ stage }) => {
  const runner = await stage.addRunner({ scope: { workspaceId: undefined } });
  expect(await refusalOf(runner.call(method.listStorage, { area: StorageArea.WORKSPACE }))).toMatchObject(invalid);
  expect(await refusalOf(runner.call(method.listStorage, {}))).toMatchObject(invalid);
  expect(await refusalOf(runner.call(method.listStorage, { area: 7 as StorageArea }))).toMatchObject(invalid);
});

test("readers get the old value until the last piece of the new one is written", async ({ stage }) => {
  const runner = await stage.addRunner();
  const reader = await stage.addRunner();
  await write(runner, "a", 0, Buffer.from("before"), true);
  await write(runner, "a", 0, Buffer.from("af"));
  expect(await read(reader, "a")).toBe("before");
  await write(runner, "a", 2, Buffer.from("te"));
  expect(await read(reader, "a")).toBe("before");
  await write(runner, "a", 4, Buffer.from("r"), true);
  expect(await read(reader, "a")).toBe("after");
  const { rows } = await pieces(stage);
  expect(rows).toBe(3);
});

test("the largest value is written in pieces and read in ranges, byte for byte", async () => {
  const runner = await (await openStage()).addRunner();
  const value = Buffer.alloc(10 * mebibyte);
  for (let at = 0; at < value.length; at += 4) {
    value.writeUInt32BE(at, at);
  }
  for (let at = 0; at < value.length; at += mebibyte) {
    await write(runner, "large", at, value.subarray(at, at + mebibyte), at + mebibyte === value.length);
  }
  const parts: Uint8Array[] = [];
  // Reads across the borders of pieces.
  for (let at = 0, hasMore = true; hasMore; ) {
    const limit = 1_000_000n;
    const part = await runner.call(method.readStorage, { area, key: "large", offset: BigInt(at), limit });
    expect(part.sizeBytes).toBe(BigInt(value.length));
    parts.push(part.content);
    at += part.content.length;
    hasMore = part.hasMore;
  }
  expect(Buffer.concat(parts).equals(value)).toBe(true);
  const whole = await runner.call(method.readStorage, { area, key: "large", limit: 5n * 1_048_576n });
  expect(whole.content.length).toBe(mebibyte);
});

test("a piece of more than 1 MiB and a value of more than 10 MiB are too large", async () => {
  const runner = await (await openStage()).addRunner();
  expect(await refusalOf(write(runner, "a", 0, Buffer.alloc(mebibyte + 1), true))).toMatchObject(tooLarge);
  const end = 10 * mebibyte;
  expect(await refusalOf(write(runner, "a", end, Buffer.alloc(1), true))).toMatchObject(tooLarge);
  expect(await read(runner, "a")).toBeUndefined();
});

test("reads past the end are empty, and a negative offset is invalid", async () => {
  const runner = await (await openStage()).addRunner();
  await write(runner, "a", 0, Buffer.from("value"), true);
  for (const offset of [5n, 6n, 2n ** 63n - 1n]) {
    const part = await runner.call(method.readStorage, { area, key: "a", offset });
    expect(part).toMatchObject({ found: true, sizeBytes: 5n, hasMore: false });
    expect(part.content.length).toBe(0);
  }
  expect(await refusalOf(runner.call(method.readStorage, { area, key: "a", offset: -1n }))).toMatchObject(invalid);
  expect(await refusalOf(runner.call(method.readStorage, { area, key: "a", limit: -1n }))).toMatchObject(invalid);
  expect(await refusalOf(write(runner, "a", -1, Buffer.from("a")))).toMatchObject(invalid);
});

test("a value may be empty, and differs from a missing one", async () => {
  const runner = await (await openStage()).addRunner();
  await write(runner, "empty", 0, new Uint8Array(), true);
  expect(await read(runner, "empty")).toBe("");
  expect((await runner.call(method.listStorage, { area })).keys).toEqual(["empty"]);
});

test("a repeated piece changes nothing, whether first, middle or last", async ({ stage }) => {
  const runner = await stage.addRunner();
  const steps = [
    [0, "one", false],
    [3, "two", false],
    [6, "three", true],
  ] as const;
  for (const [offset, text, finish] of steps) {
    await write(runner, "a", offset, Buffer.from(text), finish);
    await write(runner, "a", offset, Buffer.from(text), finish);
  }
  expect(await read(runner, "a")).toBe("onetwothree");
  await write(runner, "b", 0, Buffer.from("text"));
  await write(runner, "b", 4, new Uint8Array(), true);
  await write(runner, "b", 4, new Uint8Array(), true);
  expect(await read(runner, "b")).toBe("text");
});

test("a piece that leaves a gap, overlaps, or follows a finished value is refused and changes nothing", async () => {
  const runner = await (await openStage()).addRunner();
  expect(await refusalOf(write(runner, "a", 4, Buffer.from("a")))).toMatchObject(invalid);
  await write(runner, "a", 0, Buffer.from("four"));
  for (const [offset, text] of [
    [5, "gap"],
    [2, "overlap"],
    [3, "r"],
  ] as const) {
    expect(await refusalOf(write(runner, "a", offset, Buffer.from(text)))).toMatchObject(invalid);
  }
  await write(runner, "a", 4, Buffer.from("!"), true);
  expect(await refusalOf(write(runner, "a", 5, Buffer.from("?"), true))).toMatchObject(invalid);
  expect(await refusalOf(write(runner, "a", 4, Buffer.from("?"), true))).toMatchObject(invalid);
  expect(await read(runner, "a")).toBe("four!");
});

test("runs that write one key concurrently do not mix: each continues its own value", async ({ stage }) => {
  const one = await stage.addRunner();
  const other = await stage.addRunner();
  await write(one, "a", 0, Buffer.from("11"));
  await write(other, "a", 0, Buffer.from("2"));
  await write(one, "a", 2, Buffer.from("1"), true);
  expect(await read(other, "a")).toBe("111");
  await write(other, "a", 1, Buffer.from("22"), true);
  expect(await read(one, "a")).toBe("222");
  expect((await pieces(stage)).rows).toBe(2);
});

test("concurrent writers of one key leave one whole value and no other pieces", async ({ stage }) => {
  const runners = await Promise.all(Array.from({ length: 6 }, () => stage.addRunner()));
  await Promise.all(
    runners.map(async (runner, index) => {
      await write(runner, "a", 0, Buffer.from(`${index}`.repeat(3)));
      await write(runner, "a", 3, Buffer.from(`${index}`.repeat(3)), true);
    }),
  );
  const [reader] = runners;
  expect(reader && (await read(reader, "a"))).toMatch(/^(\d)\1{5}$/);
  expect((await pieces(stage)).rows).toBe(2);
});

test("a deleted value is gone with its pieces, and the others are listed in order", async ({ stage }) => {
  const runner = await stage.addRunner();
  for (const key of ["b", "a", "ä", "B"]) {
    await write(runner, key, 0, Buffer.from(key), true);
  }
  expect(await runner.call(method.deleteStorage, { area, key: "a" })).toMatchObject({ deleted: true });
  expect(await runner.call(method.deleteStorage, { area, key: "a" })).toMatchObject({ deleted: false });
  expect(await read(runner, "a")).toBeUndefined();
  expect(await runner.call(method.listStorage, { area })).toMatchObject({ keys: ["B", "b", "ä"], hasMore: false });
  expect(await runner.call(method.listStorage, { area, limit: 2 })).toMatchObject({ keys: ["B", "b"], hasMore: true });
  expect((await pieces(stage)).rows).toBe(3);
});

test("a value of too many pieces is refused, because reading it would be slow", async ({ stage }) => {
  const runner = await stage.addRunner();
  await write(runner, "a", 0, Buffer.from("a"));
  // Simulates the rows of a thousand calls.
  const piece = await stage.db.selectFrom("storage_piece").selectAll().executeTakeFirstOrThrow();
  const more = Array.from({ length: 1_023 }, (_, index) => ({ ...piece, start_byte: index + 1 }));
  await stage.db.insertInto("storage_piece").values(more).execute();
  expect(await refusalOf(write(runner, "a", 1_024, Buffer.from("a"), true))).toMatchObject(invalid);
});

async function pieces({ db }: Awaited<ReturnType<typeof openStage>>): Promise<{ rows: number }> {
  const rows = await db.selectFrom("storage_piece").select("key").execute();
  return { rows: rows.length };
}
