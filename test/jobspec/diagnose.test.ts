// The diagnosis of signers' mistakes: those of the shared cases, each one alone, and pairs of them.

import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { canonicalText } from "../../src/protocols/jobspec/verification/canonical-v1.ts";
import { findDifference, findMistakes } from "../../src/protocols/jobspec/verification/diagnosis/diagnose.ts";
import { singles } from "../../src/protocols/jobspec/verification/diagnosis/mistakes.ts";
import { printAs } from "../../src/protocols/jobspec/verification/diagnosis/writing.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { readSignedSpec } from "../../src/protocols/jobspec/verification/signature.ts";
import { vectors } from "./cases.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const rawKey = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");

/** Its canonical form uses every rule. */
const spec = {
  z: "<b> & \u2028",
  "\ufb01": 1,
  "\u{1f600}": 2,
  id: "job-1",
  created_at: "2025-10-10T12:00:00Z",
  constraints: { min_success_rate: 0 },
  nothing: null,
  empty: { inner: {} },
  text: "",
  a: [0, { b: null }],
};
const text = JSON.stringify(spec).replace('"a":[0', '"a":[-0');

function evidenceOf(signed: string | Uint8Array) {
  return {
    document: readDocument(Buffer.from(text)),
    publicKey: rawKey,
    signature: sign(null, Buffer.from(signed), privateKey),
  };
}

const pitfallsOf = (signed: string | Uint8Array): string[] =>
  findMistakes(evidenceOf(signed)).map(({ pitfall }) => pitfall);

test("the form without mistakes is the canonical one", () => {
  const { object } = readDocument(Buffer.from(text));
  expect(printAs(object)).toBe(canonicalText(object));
});

test.each(singles.map(([slip]) => slip))("$mistake.pitfall is found", (slip) => {
  const { object } = readDocument(Buffer.from(text));
  const written = printAs(object, slip?.change ?? {});
  expect(written).not.toBe(printAs(object));
  expect(pitfallsOf(written)).toEqual([slip?.mistake.pitfall]);
});

test("two simultaneous mistakes are found, and those of a simple implementation", () => {
  const { object } = readDocument(Buffer.from(text));
  expect(pitfallsOf(printAs(object, { keepsId: true }, { end: "\n" }))).toEqual(["id_included", "trailing_newline"]);
  const sorted = JSON.stringify(Object.fromEntries(Object.entries(spec).sort(([a], [b]) => (a < b ? -1 : 1))));
  const { id: _, created_at: __, ...rest } = JSON.parse(sorted);
  expect(pitfallsOf(JSON.stringify(rest))).toEqual([]);
  const { nothing: ___, empty: ____, ...pruned } = rest;
  expect(pitfallsOf(JSON.stringify(pruned))).toEqual(
    expect.arrayContaining([
      ...["utf16_order", "no_html_escape", "line_separators_raw", "negative_zero_as_zero", "zero_rate_kept"],
    ]),
  );
});

test("a signature of the wrapper, the digest or the body is found", () => {
  const canonical = canonicalText(readDocument(Buffer.from(text)).object);
  const digest = createHash("sha256").update(canonical).digest();
  expect(pitfallsOf(digest)).toEqual(["digest_signed"]);
  expect(pitfallsOf(digest.toString("hex"))).toEqual(["digest_signed"]);
  expect(pitfallsOf(text)).toEqual(["raw_body_signed"]);
  const wrapper = readDocument(Buffer.from(`{"jobspec":${text},"target_regions":["EU"]}`)).object;
  const signed = printAs(wrapper);
  expect(findMistakes({ ...evidenceOf(signed), wrapper })).toMatchObject([{ pitfall: "wrapper_signed" }]);
});

test("another text or another key has no diagnosis", () => {
  expect(pitfallsOf("something else")).toEqual([]);
  const other = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x ?? "";
  const evidence = { ...evidenceOf(canonicalText(readDocument(Buffer.from(text)).object)) };
  expect(findMistakes({ ...evidence, publicKey: Buffer.from(other, "base64url") })).toEqual([]);
});

test.each([
  ["v-id-in-signed-bytes", "id_included"],
  ["v-zeroed-signature-fields", "signature_fields_zeroed"],
  ["v-pretty-signed", "pretty_printed"],
  ["v-msr0-in-signed-bytes", "zero_rate_kept"],
  ["v-js-no-html-escape", "no_html_escape"],
  ["v-js-u2028", "line_separators_raw"],
  ["v-empty-string-upstream-signed", "empty_strings_dropped"],
])("the shared case %s has the mistake %s", (name, pitfall) => {
  const vector = vectors.find((each) => each.name === name);
  const document = readDocument(Buffer.from(vector?.input ?? ""));
  expect(findMistakes({ document, ...readSignedSpec(document) }).map((mistake) => mistake.pitfall)).toContain(pitfall);
});

test("the difference of two texts is found at the first different byte", () => {
  expect(findDifference(Buffer.from("same"), Buffer.from("same"))).toBeUndefined();
  expect(findDifference(Buffer.from("ab1"), Buffer.from("ab2"))).toEqual({ at: 2, expected: "ab1", given: "ab2" });
  expect(findDifference(Buffer.from("ab"), Buffer.from("ab\n"))).toEqual({ at: 2, expected: "ab", given: "ab\n" });
});

test("a deep spec of many values is not indented: a gigabyte of white space would be tried", () => {
  const deep = `{"a":${"[".repeat(500)}${"0,".repeat(300_000)}0${"]".repeat(500)}}`;
  const document = readDocument(Buffer.from(deep));
  expect(findMistakes({ document, publicKey: rawKey, signature: Buffer.alloc(64) })).toEqual([]);
});
