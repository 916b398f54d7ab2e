// Specs signed by programs in other languages, each written from the contract alone. The service accepts all of them, and
// refuses each after any changed byte, unless the change has no meaning: the signed text, key and signature are the same as
// before. Changes without meaning are white space between values, the contents of `id` and `created_at`, other escapes of the
// same characters, other digits of the same number, and unused bits of base64.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonTextError } from "../../../src/platform/base/json/text.ts";
import { readDocument } from "../../../src/protocols/jobspec/verification/json.ts";
import { pairOfSeed } from "../../../src/protocols/jobspec/verification/key-file.ts";
import {
  isSignatureRight,
  readSignedSpec,
  type SignedSpec,
} from "../../../src/protocols/jobspec/verification/signature.ts";
import { SpecFault } from "../../../src/protocols/jobspec/verification/spec-fault.ts";
import { specText } from "./arbitrary-spec.ts";
import { canonicalText, parse } from "./canonical.ts";
import type { Order } from "./page-signer.ts";
import { languages, type Sign } from "./signers.ts";

/** Undefined when the service refuses the spec or its signature is wrong. */
function accept(bytes: Uint8Array): SignedSpec | undefined {
  try {
    const signed = readSignedSpec(readDocument(bytes));
    return isSignatureRight(signed) ? signed : undefined;
  } catch (error) {
    if (error instanceof JsonTextError || error instanceof SpecFault) {
      return undefined;
    }
    throw error;
  }
}

/** The signed content, read by the tests' own code. */
function meaningOf(bytes: Uint8Array): Record<string, string> {
  const spec = parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  const decode = (name: string): string => Buffer.from(String(spec.get(name)), "base64").toString("hex");
  return { canonical: canonicalText(spec), key: decode("public_key"), signature: decode("signature") };
}

/** Each spec twice: as the signer prints it, sorted; and as it was written, with the added members at its end. */
async function signBoth(sign: Sign, orders: readonly Order[]): Promise<[printed: string, written: string][]> {
  const printed = await sign(orders);
  expect(printed.length).toBe(orders.length);
  return printed.map((text, index) => [text, addSignature(orders[index]?.spec ?? "", text)]);
}

/** Existing members are not replaced: of two with one name the last one counts. */
function addSignature(spec: string, printed: string): string {
  const { public_key, signature } = JSON.parse(printed);
  const end = spec.lastIndexOf("}");
  const comma = /^\{\s*\}$/.test(spec) ? "" : ",";
  const added = `"public_key":${JSON.stringify(public_key)}, "signature":${JSON.stringify(signature)}`;
  return `${spec.slice(0, end)}${comma}${added}${spec.slice(end)}`;
}

async function signSmall(sign: Sign, spec: string): Promise<string> {
  const [[, written] = ["", ""]] = await signBoth(sign, [{ seed: Buffer.alloc(32, 5).toString("base64"), spec }]);
  return written;
}

const order = fc.record({
  seed: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((seed) => Buffer.from(seed).toString("base64")),
  spec: specText,
});
const orders = fc.array(order, { minLength: 80, maxLength: 80 });

interface Change {
  readonly what: "replaced" | "removed" | "added";
  /** Position as a fraction of the text's length. */
  readonly at: number;
  readonly byte: number;
}

const changes = fc.array(
  fc.record<Change>({
    what: fc.constantFrom("replaced", "removed", "added"),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...Buffer.from(' \n"\\,:{}[]0123456789-+eEnul'))),
  }),
  { minLength: 24, maxLength: 24 },
);

function change(bytes: Buffer, { what, at, byte }: Change): Buffer {
  const place = Math.floor(at * bytes.length);
  const rest = bytes.subarray(what === "added" ? place : place + 1);
  return Buffer.concat([bytes.subarray(0, place), Buffer.from(what === "removed" ? [] : [byte]), rest]);
}

const small =
  '{"id":"1", "a":{"b":null,"é":[-0,1e21,{}]},"constraints":{"min_success_rate":0},"__proto__":"<\\u2028\u{1f600}\\n"}';

describe.each(languages.filter(({ isHere }) => isHere))("signed in $name", { timeout: 300_000 }, ({ start }) => {
  test("the service accepts hundreds of random specs, over the bytes that the contract defines", async () => {
    const sign = await start();
    await fc.assert(
      fc.asyncProperty(orders, async (batch) => {
        for (const [index, texts] of (await signBoth(sign, batch)).entries()) {
          const { seed = "", spec = "" } = batch[index] ?? {};
          for (const text of texts) {
            const signed = accept(Buffer.from(text));
            expect(signed?.canonical, text).toBe(canonicalText(parse(spec)));
            expect(signed?.publicKey).toEqual(pairOfSeed(Buffer.from(seed, "base64")).publicKey);
          }
        }
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  test("a small spec is refused after every change of a byte with meaning", async () => {
    const bytes = Buffer.from(await signSmall(await start(), small));
    const before = meaningOf(bytes);
    expect(accept(bytes)).toBeDefined();
    const count = { refused: 0, harmless: 0 };
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      for (let byte = 0; byte < 256; byte++) {
        changed[at] = byte;
        if (byte !== bytes[at] && accept(changed) !== undefined) {
          expect(meaningOf(changed), changed.toString()).toEqual(before);
          count.harmless += 1;
        } else {
          count.refused += 1;
        }
      }
    }
    // Nearly all of ASCII in `id`, and the last characters of the signature and the key.
    expect(count.harmless).toBeGreaterThan(90);
    expect(count.refused).toBeGreaterThan(250 * bytes.length);
  });

  test("random specs are refused after random changes with meaning", async () => {
    const sign = await start();
    await fc.assert(
      fc.asyncProperty(orders, changes, async (batch, all) => {
        for (const [, text] of await signBoth(sign, batch)) {
          const bytes = Buffer.from(text);
          const before = meaningOf(bytes);
          expect(accept(bytes), text).toBeDefined();
          for (const each of all) {
            const changed = change(bytes, each);
            if (accept(changed) !== undefined) {
              expect(meaningOf(changed), `${text}\n${changed}`).toEqual(before);
            }
          }
        }
      }),
      { numRuns: 3, endOnFailure: true },
    );
  });

  test("changes without meaning are accepted", async () => {
    const text = await signSmall(await start(), '{"id":"job","created_at":null,"a":["A/",10]}');
    const harmless = [
      ...[
        text.replace(":", " :\t"),
        `\r\n${text}\n`,
        text.replace('"A/"', '"\\u0041\\/"'),
        text.replace("10", "1.0e1"),
      ],
      ...[
        text.replace('"job"', '{"another":["job"]}'),
        text.replace("null", "12"),
        text.replace("{", '{"n":null,"o":{"p":{}},'),
      ],
      text.replace(/(.)==/, (_all, last: string) => `${withSpareBit(last)}==`),
    ];
    for (const each of harmless) {
      expect(each).not.toBe(text);
      expect(accept(Buffer.from(each)), each).toBeDefined();
    }
  });
});

/** Only the top two bits of the last character before == are part of the bytes. */
function withSpareBit(last: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return alphabet.charAt(alphabet.indexOf(last) ^ 1);
}
