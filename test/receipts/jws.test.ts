// The signed form of a receipt: exactly one text is valid, and no other signed text is accepted.

import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { signText, verifyText } from "../../src/engine/receipts/jws.ts";
import { thumbprint } from "../../src/platform/base/public-key.ts";

/** The key of RFC 8037, A.1. */
const privateKey = createPrivateKey({
  format: "jwk",
  key: {
    kty: "OKP",
    crv: "Ed25519",
    d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  },
});
const payload = '{"type":"runnel.receipt.v1","note":"äöü"}';
const right = signText(payload, privateKey);

test("a signed text can be read back, with the key that signed it", () => {
  expect(verifyText(right)).toEqual({
    payload,
    publicKey: Buffer.from("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "base64url"),
    kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
  });
  expect(signText(payload, privateKey)).toBe(right);
});

test("its header is the one documented for other languages", () => {
  expect(JSON.parse(Buffer.from(right.split(".")[0] ?? "", "base64url").toString())).toEqual({
    alg: "EdDSA",
    typ: "runnel-receipt+jws",
    kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    jwk: { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
  });
});

test("a change of any byte is noticed", () => {
  const bytes = Buffer.from(right, "latin1");
  fc.assert(
    fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, difference) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ difference;
      expect(() => verifyText(changed.toString("latin1"))).toThrow();
    }),
  );
});

test("a change of any character to its neighbour in the alphabet is noticed", () => {
  // In the last character of a part only some bits count.
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (const [at, character] of [...right].entries()) {
    const neighbour = alphabet.charAt(alphabet.indexOf(character) ^ 1);
    expect(() => verifyText(right.slice(0, at) + neighbour + right.slice(at + 1)), String(at)).toThrow();
  }
});

describe("verification refuses", () => {
  const [header = "", body = "", signature = ""] = right.split(".");

  test.each([
    ["a part too few", `${header}.${body}`, "three parts"],
    ["a part too many", `${right}.`, "three parts"],
    ["nothing", "", "three parts"],
    ["padding", `${header}.${body}=.${signature}`, "invalid signature"],
    ["padding of the signature", `${header}.${body}.${signature}==`, "signature is not base64url"],
    ["the other alphabet", `${header}.${body}.${"+".repeat(86)}`, "signature is not base64url"],
    ["white space around it", ` ${right}`, "header is not base64url"],
    ["a line end behind it", `${right}\n`, "signature is not base64url"],
    ["a short signature", `${header}.${body}.AAAA`, "64 bytes, not 3"],
    ["a text without end", "a".repeat(5_000_000), "longer than"],
  ])("%s", (_name, text, message) => {
    expect(() => verifyText(text)).toThrow(message);
  });

  const jwk = { kty: "OKP", crv: "Ed25519", x: rawKey(privateKey).toString("base64url") };
  const kid = thumbprint(rawKey(privateKey));
  const sound = { alg: "EdDSA", typ: "runnel-receipt+jws", kid, jwk };

  test("any other signed header, even an equivalent one", () => {
    expect(verifyText(signWith(JSON.stringify(sound))).payload).toBe(payload);
    for (const [text, message] of [
      [JSON.stringify({ ...sound, typ: "JWT" }), 'must have typ "runnel-receipt+jws"'],
      [JSON.stringify({ alg: "EdDSA", kid, jwk }), "must have typ"],
      [JSON.stringify({ ...sound, alg: "none" }), 'alg "EdDSA"'],
      [JSON.stringify({ ...sound, alg: "HS256" }), 'alg "EdDSA"'],
      [JSON.stringify({ ...sound, alg: "Ed25519" }), 'alg "EdDSA"'],
      [JSON.stringify({ ...sound, kid: "another" }), "kid is not the thumbprint"],
      [JSON.stringify({ ...sound, jwk: undefined }), "no Ed25519 key"],
      [JSON.stringify({ ...sound, jwk: { ...jwk, x: "AAAA" } }), "no Ed25519 key"],
      [JSON.stringify({ ...sound, jwk: { ...jwk, x: `${jwk.x}=` } }), "key is not base64url"],
      [JSON.stringify({ ...sound, jwk: { ...jwk, crv: "P-256" } }), "differs from the header of a receipt"],
      [JSON.stringify({ ...sound, crit: ["b64"], b64: false }), "differs from the header of a receipt"],
      [JSON.stringify(sound, null, 1), "differs from the header of a receipt"],
      [JSON.stringify(sound).replace("{", '{"alg":"none",'), "differs from the header of a receipt"],
      ["null", "must have typ"],
      ["{", "header is not JSON"],
    ] as const) {
      expect(() => verifyText(signWith(text)), text).toThrow(message);
    }
  });

  test("a weak key, with which one signature fits any text", () => {
    for (const first of [0, 1]) {
      const weak = Buffer.alloc(32);
      weak[0] = first;
      const forged = { ...sound, kid: thumbprint(weak), jwk: { ...jwk, x: weak.toString("base64url") } };
      expect(() => verifyText(signWith(JSON.stringify(forged)))).toThrow("weak");
    }
  });

  test("a key other than the signer's", () => {
    const other = generateKeyPairSync("ed25519").privateKey;
    const [otherHeader] = signText(payload, other).split(".");
    expect(() => verifyText(`${otherHeader}.${body}.${signature}`)).toThrow("invalid signature");
  });

  test("a signed text that is not UTF-8", () => {
    const signed = `${header}.${Buffer.from([0x22, 0xff, 0x22]).toString("base64url")}`;
    const text = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
    expect(() => verifyText(text)).toThrow("statement is not UTF-8");
  });
});

test("signing refuses a key of another kind", () => {
  const { privateKey: other } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  expect(() => signText(payload, other)).toThrow("an Ed25519 key");
});

function rawKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
}

function signWith(header: string): string {
  const signed = [header, payload].map((part) => Buffer.from(part).toString("base64url")).join(".");
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}
