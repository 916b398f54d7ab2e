// Whose signatures count: by the settings, by the database, and by both together.

import { rm } from "node:fs/promises";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { loadConfiguredKeys } from "../../src/protocols/jobspec/jobs/configured-keys.ts";
import { publicKeyOf, unknownKey } from "../../src/protocols/jobspec/jobs/trust.ts";
import { addKey, changeKey, revokeKey } from "../../src/protocols/jobspec/jobs/trusted-keys.ts";
import type { KeyTerms } from "../../src/protocols/jobspec/storage/trusted-key.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { faultOf } from "../harness/fault-of.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { trust as cases } from "../jobspec/cases.ts";
import { atNoon, entryOf, freshKey, openKeyFile, openTrustStage, type TrustStage } from "./trust-stage.ts";

const always: KeyTerms = { notBefore: undefined, notAfter: undefined, clientIds: [], regions: [], runners: [] };
const anyone = { client: "key/ada" };

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

async function add(stage: TrustStage, publicKey: Buffer, terms: Partial<KeyTerms> = {}, kid = "k"): Promise<void> {
  await addKey(stage, { kid, publicKey, terms: { ...always, ...terms } });
}

describe("the shared cases", () => {
  test.each(cases.cases)("$public_key at $now is $status, from the settings or the database", async (each) => {
    const clock = createManualClock({ nowMs: Date.parse(each.now) });
    const publicKey = Buffer.from(each.public_key, "base64");
    const expected = { status: each.status, reason: each.reason };
    const configured = await openTrustStage({ json: cases.trusted_keys_json, clock });
    expect(await configured.trust.look(publicKey, anyone)).toMatchObject(expected);
    const kept = await openTrustStage({ clock });
    for (const key of cases.trusted_keys_json) {
      const terms = { notBefore: timeOf(key.not_before), notAfter: timeOf(key.not_after) };
      await add(kept, Buffer.from(key.public_key, "base64"), terms, key.kid);
      await (key.status === "revoked" && revokeKey(kept, key.kid));
    }
    expect(await kept.trust.look(publicKey, anyone)).toMatchObject(expected);
  });

  test.each(cases.load_errors)("$json prevents the start of the service, as a text or as a file", async ({ json }) => {
    const whole = json.replaceAll("AA==", Buffer.alloc(32).toString("base64")).replaceAll("AQ==", "B".repeat(43));
    const { path } = await openKeyFile(whole);
    for (const settings of [
      { trustKeysJson: whole, trustKeysFile: "" },
      { trustKeysJson: "", trustKeysFile: path },
    ]) {
      expect(refusalOf(settings)).toMatch(
        /^Invalid config: trust\.keys_(json|file) .*is not a valid trust list: (entry|two|must)/,
      );
    }
  });
});

describe("a key in the database", () => {
  test("is valid from its first to its last millisecond", async () => {
    const stage = await openTrustStage();
    const key = freshKey();
    await add(stage, key, { notBefore: new Date(atNoon), notAfter: new Date(atNoon + 1_000) });
    const statusAt = async (nowMs: number) => {
      stage.clock.advance(nowMs - stage.clock.nowMs());
      return (await stage.trust.look(key, anyone)).status;
    };
    expect(await statusAt(atNoon - 1)).toBe("not_yet_valid");
    expect(await statusAt(atNoon)).toBe("trusted");
    expect(await statusAt(atNoon + 1_000)).toBe("trusted");
    expect(await statusAt(atNoon + 1_001)).toBe("expired");
  });

  test("with a list of clients is not valid for other clients, nor for one that only claims the name", async () => {
    const stage = await openTrustStage();
    const key = freshKey();
    await add(stage, key, { clientIds: ["ada", "bob/lab"], regions: ["EU"] });
    const trusted = { status: "trusted", kid: "k", scope: { regions: ["EU"] } };
    const refused = { status: "unknown", reason: "not trusted for this client", kid: "k" };
    for (const [client, answer] of [
      ["key/ada", trusted],
      ["key/bob/lab", trusted],
      // Without a client the answer is that for the key's own clients.
      [undefined, trusted],
      ["key/eve", refused],
      ["shared/ada", refused],
      ["ada", refused],
    ] as const) {
      expect(await stage.trust.look(key, { client })).toMatchObject(answer);
    }
    await revokeKey(stage, "k");
    expect(await stage.trust.look(key, { client: "key/eve" })).toMatchObject({ status: "revoked" });
  });

  test("is revoked and changed on every replica at once", async () => {
    const here = await openTrustStage();
    const there = await openTrustStage({ db: here.db });
    const key = freshKey();
    expect(await there.trust.look(key, anyone)).toEqual(unknownKey);
    await add(here, key);
    expect(await there.trust.look(key, anyone)).toMatchObject({ status: "trusted", scope: { regions: [] } });
    await changeKey(here, "k", { ...always, regions: ["US"] });
    expect(await there.trust.look(key, anyone)).toMatchObject({ status: "trusted", scope: { regions: ["US"] } });
    await revokeKey(here, "k");
    expect(await there.trust.look(key, anyone)).toEqual({
      status: "revoked",
      reason: "explicitly revoked",
      kid: "k",
      scope: { regions: ["US"], runners: [] },
    });
  });

  test("gives an error while the database is down, even for a key of the settings", async () => {
    const key = freshKey();
    const { db, trust } = await openTrustStage({ json: [entryOf("a", key)] });
    await sql`alter table trusted_key rename to gone`.execute(db);
    await expect(trust.look(key, anyone)).rejects.toThrow("trusted_key");
    await sql`alter table gone rename to trusted_key`.execute(db);
    expect(await trust.look(key, anyone)).toMatchObject({ status: "trusted", kid: "a" });
  });
});

describe("a key in both the settings and the database", () => {
  /** Adds the key to the database first, and to the settings later. */
  async function openBoth(entry: object, terms: Partial<KeyTerms> = {}) {
    const key = freshKey();
    const before = await openTrustStage();
    await add(before, key, terms, "kept");
    const stage = await openTrustStage({ db: before.db, json: [entryOf("set", key, entry)] });
    return { stage, ask: (client = "key/ada") => stage.trust.look(key, { client }) };
  }

  test("is revoked when either place revokes it", async () => {
    const one = await openBoth({ status: "revoked" });
    expect(await one.ask()).toMatchObject({ status: "revoked", kid: "set" });
    const other = await openBoth({});
    await revokeKey(other.stage, "kept");
    expect(await other.ask()).toMatchObject({ status: "revoked", kid: "kept" });
  });

  test("is trusted when either place trusts it", async () => {
    const late = await openBoth({ not_after: "2025-01-01T00:00:00Z" }, { clientIds: ["ada"], regions: ["EU"] });
    expect(await late.ask()).toMatchObject({ status: "trusted", kid: "kept", scope: { regions: ["EU"] } });
    expect(await late.ask("key/eve")).toMatchObject({ status: "expired", kid: "set" });
    const wide = await openBoth({}, { clientIds: ["ada"], regions: ["EU"] });
    expect(await wide.ask("key/eve")).toMatchObject({ status: "trusted", kid: "set", scope: { regions: [] } });
  });
});

describe("the file of the settings", () => {
  test("is reloaded: a new key is trusted, and a removed one is not", async () => {
    const [first, second] = [freshKey(), freshKey()];
    const file = await openKeyFile(JSON.stringify([entryOf("a", first)]));
    const { clock, told, trust } = await openTrustStage({ file: file.path, reloadMs: 5_000 });
    expect(await trust.look(first, anyone)).toMatchObject({ status: "trusted" });
    await file.write(JSON.stringify([entryOf("b", second)]));
    expect(await trust.look(second, anyone)).toEqual(unknownKey);
    clock.advance(5_000);
    await clock.slept(2);
    expect(await trust.look(second, anyone)).toMatchObject({ status: "trusted", kid: "b" });
    expect(await trust.look(first, anyone)).toEqual(unknownKey);
    clock.advance(5_000);
    await clock.slept(3);
    expect(told).toEqual(["loaded 1"]);
  });

  test("that becomes invalid leaves the last valid list, is logged once, and makes the replica unfit meanwhile", async () => {
    const key = freshKey();
    const good = JSON.stringify([entryOf("a", key)]);
    const file = await openKeyFile(good);
    const { clock, told, trust } = await openTrustStage({ file: file.path, reloadMs: 5_000 });
    let sleeps = 1;
    const reload = async (): Promise<string | null> => {
      clock.advance(5_000);
      sleeps += 1;
      await clock.slept(sleeps);
      expect(await trust.look(key, anyone)).toMatchObject({ status: "trusted" });
      return trust.whyUnfit();
    };
    expect(trust.whyUnfit()).toBeNull();
    await file.write("[{]");
    const bad = await reload();
    expect(bad).toMatch(/^trust\.keys_file \(.*\) is not a valid trust list: not JSON/);
    expect(await reload()).toBe(bad);
    await rm(file.path);
    expect(await reload()).toMatch(/^trust\.keys_file cannot be read: ENOENT.*: name a file with a JSON array/);
    await file.write(good);
    expect(await reload()).toBeNull();
    expect(told).toEqual([
      expect.stringMatching(/^failed .*not JSON/),
      expect.stringMatching(/^failed .*ENOENT/),
      "loaded 1",
    ]);
  });

  test("is never reloaded without a reload interval", async () => {
    const file = await openKeyFile("[]");
    const { clock, trust } = await openTrustStage({ file: file.path });
    await file.write("nonsense");
    clock.advance(86_400_000);
    expect(clock.delaysMs).toEqual([]);
    expect(trust.whyUnfit()).toBeNull();
  });

  test("may not repeat a key of the text, by key id or by bytes", async () => {
    const [one, other] = [freshKey(), freshKey()];
    const trustKeysJson = JSON.stringify([entryOf("a", one)]);
    const refuse = async (entry: object) => {
      const { path } = await openKeyFile(JSON.stringify([entry]));
      return refusalOf({ trustKeysJson, trustKeysFile: path });
    };
    const end = "remove one of them";
    expect(await refuse(entryOf("a", other))).toBe(
      `Invalid config: trust.keys_file and trust.keys_json both have the kid "a": ${end}`,
    );
    expect(await refuse(entryOf("b", one))).toBe(
      `Invalid config: trust.keys_file and trust.keys_json both have the public_key of kid "b": ${end}`,
    );
    const { path } = await openKeyFile(JSON.stringify([entryOf("b", other)]));
    expect(loadConfiguredKeys({ trustKeysJson, trustKeysFile: path }).map(({ kid }) => kid)).toEqual(["a", "b"]);
  });

  test("that is missing prevents the start of the service", () => {
    expect(refusalOf({ trustKeysJson: "", trustKeysFile: "/nowhere/keys.json" })).toMatch(
      /^Invalid config: trust\.keys_file cannot be read: ENOENT/,
    );
  });
});

test.each([
  ["{}", undefined],
  ['{"public_key":7}', undefined],
  ['{"public_key":""}', undefined],
  ['{"public_key":"no base64!"}', undefined],
  ['{"public_key":"AQID"}', undefined],
  [`{"public_key":"${Buffer.alloc(33, 1).toString("base64")}"}`, undefined],
  [`{"public_key":"${Buffer.alloc(32, 1).toString("base64")}"}`, Buffer.alloc(32, 1)],
])("the key of %s is read when it is valid", (text, key) => {
  expect(publicKeyOf(readDocument(Buffer.from(text)))).toEqual(key);
});

function refusalOf(settings: Parameters<typeof loadConfiguredKeys>[0]): string {
  const { reason, message } = faultOf(() => loadConfiguredKeys(settings));
  expect(reason).toBe("CONFIG_INVALID");
  return message;
}
