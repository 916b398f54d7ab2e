// Why a signature is not right: the usual mistakes of signers, each tried against the signature that was given. What is found is
// told; nothing is ever accepted by it.
// G1  Each mistake changes which members are signed, or how they are written. Pairs of them are tried as well.
// G2  The work is bounded, whatever the spec is.

import { createHash } from "node:crypto";
import { atOnce } from "../../../../platform/base/steps.ts";
import type { JsonObject, ReadDocument } from "../json.ts";
import { isSignatureOf } from "../signature.ts";
import { type Mistake, pairs, type Slip, singles } from "./mistakes.ts";
import { printAs } from "./writing.ts";

export interface Evidence {
  readonly document: ReadDocument;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
  /** What the spec came in, if it came in something. */
  readonly wrapper?: JsonObject | undefined;
}

/** A larger spec is tried with single mistakes only: pairs of them would take seconds. */
const pairsTextMax = 65_536;

/** The mistakes that together explain the signature; none when nothing does. */
export function findMistakes(evidence: Evidence): readonly Mistake[] {
  return atOnce(searchMistakes(evidence));
}

/** The same, a try a step: of a large spec each takes a while. */
export function* searchMistakes(evidence: Evidence): Generator<void, readonly Mistake[]> {
  const whole = wholeMistakes(evidence).find(({ bytes }) => isSigned(bytes, evidence));
  if (whole !== undefined) {
    return [whole.mistake];
  }
  const { object, text } = evidence.document;
  for (const slips of text.length > pairsTextMax ? singles : [...singles, ...pairs]) {
    yield;
    if (isSigned(write(object, slips), evidence)) {
      return slips.map(({ mistake }) => mistake);
    }
  }
  return [];
}

/** Where two texts part, for a signer that knows what it signed. */
export interface TextDifference {
  /** Bytes that are the same before. */
  readonly at: number;
  readonly expected: string;
  readonly given: string;
}

const shownBytes = 40;

export function findDifference(expected: Uint8Array, given: Uint8Array): TextDifference | undefined {
  const length = Math.min(expected.length, given.length);
  let at = 0;
  while (at < length && expected[at] === given[at]) {
    at += 1;
  }
  if (at === expected.length && at === given.length) {
    return undefined;
  }
  const around = (bytes: Uint8Array): string =>
    Buffer.from(bytes.subarray(Math.max(0, at - shownBytes), at + shownBytes)).toString();
  return { at, expected: around(expected), given: around(given) };
}

function write(object: JsonObject, slips: readonly Slip[]): Uint8Array {
  return Buffer.from(printAs(object, ...slips.map(({ change }) => change)));
}

function isSigned(bytes: Uint8Array, { publicKey, signature }: Evidence): boolean {
  return isSignatureOf(bytes, publicKey, signature);
}

/** What is not a way to write the object. */
function wholeMistakes({ document, wrapper }: Evidence): { mistake: Mistake; bytes: Uint8Array }[] {
  const canonical = printAs(document.object);
  const digest = createHash("sha256").update(canonical);
  const digestBytes = digest.digest();
  return [
    { mistake: mistakeOf("digest_signed", "sign the canonical bytes, not their SHA-256"), bytes: digestBytes },
    {
      mistake: mistakeOf("digest_signed", "sign the canonical bytes, not the text of their SHA-256"),
      bytes: Buffer.from(digestBytes.toString("hex")),
    },
    {
      mistake: mistakeOf("raw_body_signed", "sign the canonical form, not the body"),
      bytes: Buffer.from(document.text),
    },
    ...(wrapper === undefined ? [] : wrappersOf(wrapper, document.object)),
  ];
}

/** As it was before the signature was put into the spec. */
function wrappersOf(wrapper: JsonObject, spec: JsonObject): { mistake: Mistake; bytes: Uint8Array }[] {
  const mistake = mistakeOf("wrapper_signed", "sign the object in `jobspec` alone, not what it is sent in");
  const unsigned = new Map([...spec].filter(([name]) => name !== "signature" && name !== "public_key"));
  return [wrapper, new Map(wrapper).set("jobspec", unsigned)].map((each) => ({
    mistake,
    bytes: Buffer.from(printAs(each)),
  }));
}

function mistakeOf(pitfall: string, advice: string): Mistake {
  return { pitfall, advice };
}
