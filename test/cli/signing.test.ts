// `keys new`, `keys show`, `sign` and `verify`: without a service, with keys in every form in which signers keep them.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type Outcome, ownFolder, runCommand } from "./command.ts";

let folder: string;

beforeEach(async () => {
  folder = await ownFolder();
});

function runnel(...words: string[]): Promise<Outcome> {
  return runCommand(words, { directory: folder });
}

function pipe(input: string, ...words: string[]): Promise<Outcome> {
  return runCommand(words, { directory: folder, input });
}

async function put(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, name), content);
  return name;
}

async function jsonOf(outcome: Promise<Outcome>) {
  const { code, stdout, stderr } = await outcome;
  return {
    code,
    answer: stdout === "" ? undefined : JSON.parse(stdout),
    failure: stderr === "" ? "" : JSON.parse(stderr),
  };
}

/** The seed of the first test of RFC 8032, section 7.1. */
const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
const rawPublic = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex");
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
  format: "der",
  type: "pkcs8",
});
const publicKey = createPublicKey(privateKey);
const kid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
const side = {
  kid,
  public_key: rawPublic.toString("base64"),
  trusted_key: { kid, public_key: rawPublic.toString("base64"), status: "active" },
};

const pem = (key: KeyObject): string =>
  key.export({ format: "pem", type: key.type === "private" ? "pkcs8" : "spki" }).toString();
const privateForms: Readonly<Record<string, string | Buffer>> = {
  "PKCS#8 as PEM": pem(privateKey),
  "PKCS#8 as DER": privateKey.export({ format: "der", type: "pkcs8" }),
  "PKCS#8 as DER in base64": privateKey.export({ format: "der", type: "pkcs8" }).toString("base64"),
  "the seed in base64": `${seed.toString("base64")}\n`,
  "seed and public key in base64": Buffer.concat([seed, rawPublic]).toString("base64"),
};

describe("keys new", () => {
  test("writes a private key for its owner alone, shows its public side, and never overwrites a file", async () => {
    const { code, answer } = await jsonOf(runnel("keys", "new", "--out", "key.pem", "--json"));
    expect(code).toBe(0);
    expect(answer).toEqual({
      file: "key.pem",
      kid: expect.any(String),
      public_key: expect.any(String),
      trusted_key: expect.anything(),
    });
    const path = join(folder, "key.pem");
    const written = await readFile(path, "utf8");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(createPublicKey(written).export({ format: "jwk" }).x).toBe(
      Buffer.from(answer.public_key, "base64").toString("base64url"),
    );
    const again = await runnel("keys", "new", "--out", "key.pem");
    expect(again).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "runnel: cannot write key.pem: it exists, and keys are never written over\n  fix      name another file with --out\n",
    });
    expect(await readFile(path, "utf8")).toBe(written);
    const nowhere = await jsonOf(runnel("keys", "new", "--out", "no/such/folder", "--json"));
    expect(nowhere).toMatchObject({ code: 1, failure: { reason: "FILE_UNWRITABLE" } });
  });

  test("prints only the private key on standard output, a new one each time", async () => {
    const [one, other] = await Promise.all([runnel("keys", "new"), runnel("keys", "new")]);
    expect(one.stdout).toMatch(/^-----BEGIN PRIVATE KEY-----\n[A-Za-z0-9+/=]{64}\n-----END PRIVATE KEY-----\n$/);
    expect(one.stderr).toMatch(/^kid +\S{43}\npublic key +\S{44}\ntrusted +\{"kid":.*"status":"active"\}\n$/);
    expect(one.stdout).not.toBe(other.stdout);
    const shown = await pipe(one.stdout, "keys", "show", "-");
    expect(shown).toEqual({ code: 0, stdout: one.stderr, stderr: "" });
  });
});

describe("keys show", () => {
  const spki = publicKey.export({ format: "der", type: "spki" });
  test.each(
    Object.entries({
      ...privateForms,
      "SPKI as PEM": pem(publicKey),
      "SPKI as DER": spki,
      "SPKI as DER in base64": spki.toString("base64"),
    }).filter(([name]) => name !== "the seed in base64"),
  )("shows the public side of %s", async (_name, content) => {
    expect(await jsonOf(runnel("keys", "show", await put("key", content), "--json"))).toEqual({
      code: 0,
      answer: side,
      failure: "",
    });
  });

  test("requires the kind of 32 bare bytes, and shows none of them before", async () => {
    const file = await put("key", seed.toString("base64"));
    const { code, stdout, stderr } = await runnel("keys", "show", file);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/which may be a secret seed or a public key\n {2}fix {6}add --as seed .* --as public\n$/);
    expect((await jsonOf(runnel("keys", "show", file, "--as", "seed", "--json"))).answer).toEqual(side);
    await put("key", rawPublic.toString("base64"));
    expect((await jsonOf(runnel("keys", "show", file, "--as", "public", "--json"))).answer).toEqual(side);
  });

  test("refuses a weak key, under which one signature is valid for any text", async () => {
    const file = await put("key", Buffer.alloc(32, 0).toString("base64"));
    expect(await jsonOf(runnel("keys", "show", file, "--as", "public", "--json"))).toMatchObject({
      code: 1,
      failure: { reason: "INVALID_KEY", error: expect.stringContaining("weak key") },
    });
  });
});

/** As a person writes it: no program would format it like this. */
const spec =
  '{ "version" : "v1",\n\t"id":"job-1", "rate": 1.50e3, "big": 9007199254740993, "text": "\\u0041\\/ <b>",\n "metadata": { "nonce": "old" } }\n';

describe("sign", () => {
  test.each(Object.entries(privateForms))("accepts a private key as %s", async (_name, content) => {
    const signed = await pipe(spec, "sign", "--key", await put("key", content));
    expect({ code: signed.code, stderr: signed.stderr }).toEqual({ code: 0, stderr: "" });
    const verified = await jsonOf(pipe(signed.stdout, "verify", "-", "--json"));
    expect(verified).toMatchObject({ code: 0, answer: { verify: "ok", version: 1, kid, public_key: side.public_key } });
  });

  test("prints its input byte for byte, with its members after the last one", async () => {
    const key = await put("key", pem(privateKey));
    const { stdout } = await pipe(spec, "sign", "--key", key);
    const before = spec.slice(0, spec.lastIndexOf(" }\n"));
    expect(stdout.startsWith(before)).toBe(true);
    expect(stdout.slice(before.length)).toMatch(
      /^, "public_key": "[A-Za-z0-9+/]{43}=", "signature": "[A-Za-z0-9+/]{86}==" \}\n$/,
    );
    // Signing is deterministic, and replaces an existing signature in its place.
    expect((await pipe(stdout, "sign", "-", "--key", key)).stdout).toBe(stdout);
    const canonical = await pipe(spec, "sign", "--key", key, "--canonical");
    expect(canonical.stdout).toBe(
      '{"big":9007199254740992,"metadata":{"nonce":"old"},"rate":1500,"text":"A/ \\u003cb\\u003e","version":"v1"}',
    );
    expect(await jsonOf(pipe(spec, "sign", "--key", key, "--json"))).toEqual({
      code: 0,
      answer: { version: 1, kid, public_key: side.public_key, canonical: canonical.stdout, spec: stdout },
      failure: "",
    });
  });

  test("puts an inner spec back into its wrapper, and signs no part of the wrapper", async () => {
    const key = await put("key", pem(privateKey));
    const wrapper = `{"target_regions":["EU"], "jobspec":${spec}, "min_regions":3}\n`;
    const { stdout } = await pipe(wrapper, "sign", "--key", key);
    const alone = (await pipe(spec, "sign", "--key", key)).stdout;
    expect(stdout).toBe(wrapper.replace(spec.trimEnd(), alone.trimEnd()));
    const file = await put("wrapper.json", stdout.replace('"min_regions":3', '"min_regions":1'));
    expect(await jsonOf(runnel("verify", file, "--json"))).toMatchObject({
      code: 0,
      answer: { verify: "ok", is_wrapped: true },
    });
  });

  test("stamps with a new nonce and time, in existing metadata or in new ones", async () => {
    const key = await put("key", pem(privateKey));
    const nonces = new Set<string>();
    for (const text of [spec, "{}", '{"metadata":null}', '{"metadata":{}}']) {
      const { stdout } = await pipe(text, "sign", "--key", key, "--stamp");
      const { metadata } = JSON.parse(stdout);
      expect(metadata.nonce).toMatch(/^[A-Za-z0-9+/]{22}$/);
      expect(metadata.timestamp).toBe(new Date(metadata.timestamp).toISOString());
      nonces.add(metadata.nonce);
      expect((await pipe(stdout, "verify", "-")).code).toBe(0);
    }
    expect(nonces.size).toBe(4);
  });

  test("signs by version 2 with its members inside, and back by version 1", async () => {
    const key = await put("key", pem(privateKey));
    const bounds = ["--exp", "2100-01-02", "--aud", "runnel of the <EU>"];
    const { stdout } = await pipe('{"a":{}}', "sign", "--key", key, "--sig-v", "2", ...bounds);
    expect(JSON.parse(stdout)).toEqual({
      ...{ a: {}, sig_v: 2, alg: "Ed25519", kid, exp: Date.UTC(2100, 0, 2) / 1_000, aud: "runnel of the <EU>" },
      ...{ public_key: side.public_key, signature: expect.any(String) },
    });
    expect(await jsonOf(pipe(stdout, "verify", "-", "--json"))).toMatchObject({ code: 0, answer: { version: 2 } });
    const later = stdout.replace(/"exp":\d+/, '"exp":4200000000');
    expect((await pipe(later, "verify", "-")).code).toBe(1);
    // Signing keeps the spec's own version and time bounds.
    expect((await pipe(later, "sign", "--key", key)).stdout).toMatch(/"sig_v":2.*"exp":4200000000/);
    const back = (await pipe(stdout, "sign", "--key", key, "--sig-v", "1")).stdout;
    expect(await jsonOf(pipe(back, "verify", "-", "--json"))).toMatchObject({ code: 0, answer: { version: 1 } });
  });

  test("reports that it has replaced the key of another key pair", async () => {
    const other = await put("other", pem(generateKeyPairSync("ed25519").privateKey));
    const theirs = (await pipe(spec, "sign", "--key", other)).stdout;
    const key = await put("key", pem(privateKey));
    const { code, stdout, stderr } = await pipe(theirs, "sign", "--key", key);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "the public key of another key pair was replaced\n" });
    expect(stdout).toContain(side.public_key);
    expect((await pipe(stdout, "verify", "-")).code).toBe(0);
  });

  const mixed = Buffer.concat([seed, Buffer.alloc(32, 7)]).toString("base64");
  const lock = { type: "pkcs8", cipher: "aes-256-cbc", passphrase: "p" } as const;
  const encryptedDer = privateKey.export({ format: "der", ...lock });
  const encrypted = privateKey.export({ format: "pem", ...lock }).toString();
  test.each([
    ["a public key", pem(publicKey), "is a public key: signing requires the private key"],
    ["a seed with the public key of another", mixed, "do not belong together"],
    ["an RSA key", pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey), "of type rsa"],
    ["a key of X25519", pem(generateKeyPairSync("x25519").privateKey), "of type x25519"],
    ["an encrypted key", encrypted, "is encrypted: write it without a passphrase"],
    ["an encrypted key as DER", encryptedDer, "is encrypted: write it without a passphrase"],
    ["a key without its end", pem(privateKey).slice(0, 60), "is not a valid key: expected PKCS#8"],
    ["33 bytes", Buffer.alloc(33).toString("base64"), "is not a valid key: expected PKCS#8"],
    ["nothing", "", "is not a valid key: expected PKCS#8"],
    ["hex", seed.toString("hex"), "is not a valid key: expected PKCS#8"],
  ])("refuses %s as a key, and shows no part of the file", async (_name, content, told) => {
    const { code, answer, failure } = await jsonOf(pipe("{}", "sign", "--key", await put("key", content), "--json"));
    expect({ code, answer }).toEqual({ code: 1, answer: undefined });
    expect(failure).toEqual({ error: expect.stringContaining(told), reason: "INVALID_KEY", fix: expect.any(String) });
    expect(JSON.stringify(failure)).not.toMatch(/[A-Za-z0-9+/]{40}/);
  });

  test.each([
    [
      "no JSON",
      "{a:1}",
      [],
      "INVALID_JSON",
      'unexpected character "a" instead of a key in double quotes, at line 1, column 2',
    ],
    ["nothing", "", [], "INVALID_JSON", "the text is empty: a JSON object is expected"],
    ["an array", "[]", [], "INVALID_JSON", "a JSON object is expected"],
    ["a byte order mark", "\ufeff{}", [], "INVALID_JSON", "unexpected byte order mark"],
    ["a number beyond all", '{"a":1e400}', [], "INVALID_JSON", "too large for a float64"],
    ["metadata of another kind", '{"metadata":[]}', ["--stamp"], "INVALID_JOBSPEC", "metadata must be an object"],
    ["another version", '{"sig_v":3}', [], "INVALID_JOBSPEC", "sig_v must be 1 or 2"],
    ["version 2 without its bounds", "{}", ["--sig-v", "2"], "INVALID_JOBSPEC", "exp is required in version 2"],
    [
      "a name twice in version 2",
      '{"a":1,"a":1,"sig_v":2,"exp":1,"aud":"x"}',
      [],
      "INVALID_JOBSPEC",
      "/a has a name that occurs twice",
    ],
    [
      "more than a service takes",
      `{"a":"${"x".repeat(1_048_576)}"}`,
      [],
      "FILE_TOO_LONG",
      "standard input is longer than 1048576 bytes",
    ],
  ])("refuses %s", async (_name, text, words, reason, told) => {
    const key = await put("key", pem(privateKey));
    expect(await jsonOf(pipe(text, "sign", "--key", key, ...words, "--json"))).toEqual({
      code: 1,
      answer: undefined,
      failure: { error: expect.stringContaining(told), reason },
    });
  });

  test("missing files and conflicting options are reported", async () => {
    const key = await put("key", pem(privateKey));
    const none = await runnel("sign", "none.json", "--key", key);
    expect(none).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^runnel: cannot read none\.json: ENOENT[^\n]+\n$/),
    });
    expect((await jsonOf(runnel("sign", "--key", "none.pem", "--json"))).failure.reason).toBe("FILE_UNREADABLE");
    expect(await jsonOf(pipe("{}", "sign", "--key", key, "--aud", "x", "--json"))).toMatchObject({
      code: 2,
      failure: { reason: "USAGE", fix: "add --sig-v 2" },
    });
    expect((await pipe("{}", "sign")).code).toBe(2);
    expect((await pipe("{}", "sign", "--key", key, "--sig-v", "3")).code).toBe(2);
  });
});

describe("verify", () => {
  async function putSigned(): Promise<{ file: string; text: string }> {
    const text = (await pipe(spec, "sign", "--key", await put("key", pem(privateKey)))).stdout;
    return { file: await put("signed.json", text), text };
  }

  test("prints its findings for people", async () => {
    const { file } = await putSigned();
    const { code, stdout, stderr } = await runnel("verify", file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n")).toEqual([
      "✓ the signature is right",
      `  key         ${side.public_key}, kid ${kid}`,
      "  version     1",
      expect.stringMatching(/^ {2}canonical {3}sha256 [0-9a-f]{64}, 104 bytes$/),
      '! inexact_integer at "/big"',
      "",
    ]);
  });

  test("reports why a signature is invalid, and where the signed bytes differ", async () => {
    const { text } = await putSigned();
    const canonical = '{"id":"job-1","version":"v1"}';
    const signature = sign(null, Buffer.from(canonical), privateKey).toString("base64");
    const file = await put(
      "slip.json",
      JSON.stringify({ version: "v1", id: "job-1", public_key: side.public_key, signature }),
    );
    const given = await put("canonical", canonical);
    const { code, stdout } = await runnel("verify", file, "--canonical", given);
    expect(code).toBe(1);
    expect(stdout.split("\n").slice(0, 5)).toEqual([
      "✗ signature verification failed (signature_mismatch)",
      "  pitfall     id_included: leave the outermost `id` out of the signed bytes",
      "  difference  at byte 2",
      '  difference    to sign "{\\"version\\":\\"v1\\"}"',
      '  difference    given   "{\\"id\\":\\"job-1\\",\\"version\\":\\"v1\\"}"',
    ]);
    expect(await jsonOf(runnel("verify", file, "--canonical", given, "--json"))).toMatchObject({
      code: 1,
      answer: {
        verify: "failed",
        error_code: "signature_mismatch",
        pitfalls: [{ pitfall: "id_included" }],
        difference: { at: 2 },
        canonical_len: 16,
      },
    });
    await put("canonical", '{"version":"v1"}');
    expect((await jsonOf(runnel("verify", file, "--canonical", given, "--json"))).answer.difference).toBeNull();
    const changed = await put("changed.json", text.replace("v1", "v2"));
    expect(await jsonOf(runnel("verify", changed, "--json"))).toMatchObject({
      code: 1,
      answer: { verify: "failed", error_code: "signature_mismatch", pitfalls: [] },
    });
  });

  test.each([
    ["{}", "missing_field:signature", 2],
    ['{"signature":"x","public_key":"x"}', "invalid_encoding:signature", 2],
    [`{"signature":"AA==","public_key":"${Buffer.alloc(32).toString("base64")}"}`, "weak_public_key", 2],
    ['{"sig_v":"2"}', "invalid_field:sig_v", undefined],
  ])("%s is %s", async (text, errorCode, canonicalLen) => {
    const { code, answer, failure } = await jsonOf(pipe(text, "verify", "-", "--json"));
    expect({ code, failure }).toEqual({ code: 1, failure: "" });
    expect(answer).toMatchObject({ kind: "jobspec", verify: "failed", error_code: errorCode, pitfalls: [] });
    expect(answer.canonical_len).toBe(canonicalLen);
  });

  test("checks the key against a list when one is given", async () => {
    const { file } = await putSigned();
    const judge = async (list: unknown) =>
      jsonOf(runnel("verify", file, "--trusted-keys", await put("list.json", JSON.stringify(list)), "--json"));
    const entry = side.trusted_key;
    expect(await judge([entry])).toMatchObject({
      code: 0,
      answer: { verify: "ok", trust: { status: "trusted", kid } },
    });
    expect(await judge([])).toMatchObject({ code: 1, answer: { verify: "ok", trust: { status: "unknown" } } });
    expect(await judge([{ ...entry, status: "revoked" }])).toMatchObject({
      code: 1,
      answer: { trust: { status: "revoked" } },
    });
    expect(await judge([{ ...entry, not_after: "2001-01-01T00:00:00Z" }])).toMatchObject({
      code: 1,
      answer: { trust: { status: "expired" } },
    });
    expect(await judge({ trusted_keys: [entry] })).toMatchObject({
      code: 1,
      failure: { reason: "INVALID_TRUST_LIST" },
    });
  });

  test("an unreadable input is reported as a failure", async () => {
    expect(await jsonOf(runnel("verify", "none.json", "--json"))).toMatchObject({
      code: 1,
      answer: undefined,
      failure: { reason: "FILE_UNREADABLE" },
    });
    expect(await jsonOf(pipe("{", "verify", "-", "--json"))).toMatchObject({
      code: 1,
      failure: { reason: "INVALID_JSON" },
    });
    expect((await runnel("verify")).code).toBe(2);
  });
});
