// Finds out why a signature is wrong: tries the usual mistakes of signers against the signature that was given. The findings
// are reported only; they never make a spec accepted.
// G1  Each mistake changes which members are signed, or how they are written. Pairs of mistakes are tried as well.
// G2  The work is bounded for any spec.

import { createHash } from "node:crypto";
import { atOnce } from "../../../../platform/base/steps.ts";
import type { JsonObject, ReadDocument } from "../json.ts";
import { bodyBytesMax } from "../request.ts";
import { isSignatureOf } from "../signature.ts";
import { type Deviation, type Mistake, pairs, singles } from "./mistakes.ts";
import { countIndents, printAs } from "./writing.ts";

/** The signature that is wrong, and everything that it may cover. */
export interface Evidence {
  readonly document: ReadDocument;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
  /** The object around the spec, if the spec came in a wrapper. */
  readonly wrapper?: JsonObject | undefined;
}

/** The longest text for which pairs of mistakes are tried: longer ones would take seconds. */
const pairsTextMax = 65_536;

/**
 * The most white space that is tried at the starts of lines: four times the longest body. A deep spec of many values would have
 * a gigabyte of it, and no signer indents such a spec.
 */
const indentCharsMax = 4 * bodyBytesMax;

/** Returns the mistakes that together explain the signature, or an empty list when nothing explains it. */
export function findMistakes(evidence: Evidence): readonly Mistake[] {
  return atOnce(searchMistakes(evidence));
}

/** Does the same one try a step, because each try takes a while with a large spec. */
export function* searchMistakes(evidence: Evidence): Generator<void, readonly Mistake[]> {
  const whole = wholeMistakes(evidence).find(({ bytes }) => isSigned(bytes, evidence));
  if (whole !== undefined) {
    return [whole.mistake];
  }
  const { object, text } = evidence.document;
  const indents = countIndents(object);
  for (const deviations of text.length > pairsTextMax ? singles : [...singles, ...pairs]) {
    if (deviations.some(({ change: { indent = 0 } }) => indent * indents > indentCharsMax)) {
      continue;
    }
    yield;
    if (isSigned(write(object, deviations), evidence)) {
      return deviations.map(({ mistake }) => mistake);
    }
  }
  return [];
}

/** Where two texts begin to differ, for a signer that knows what it signed. */
export interface TextDifference {
  /** The number of equal bytes before the difference. */
  readonly at: number;
  readonly expected: string;
  readonly given: string;
}

const shownBytes = 40;

/** Returns the first difference with 40 bytes on each side, or undefined when both texts are the same. */
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

function write(object: JsonObject, deviations: readonly Deviation[]): Uint8Array {
  return Buffer.from(printAs(object, ...deviations.map(({ change }) => change)));
}

function isSigned(bytes: Uint8Array, { publicKey, signature }: Evidence): boolean {
  return isSignatureOf(bytes, publicKey, signature);
}

/** Returns mistakes that are more than another way to write the object. */
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

/** Returns the signed wrapper, as it came and as it was before the signature was put into the spec. */
function wrappersOf(wrapper: JsonObject, spec: JsonObject): { mistake: Mistake; bytes: Uint8Array }[] {
  const mistake = mistakeOf("wrapper_signed", "sign only the object in `jobspec`, not the wrapper around it");
  const unsigned = new Map([...spec].filter(([name]) => name !== "signature" && name !== "public_key"));
  return [wrapper, new Map(wrapper).set("jobspec", unsigned)].map((each) => ({
    mistake,
    bytes: Buffer.from(printAs(each)),
  }));
}

function mistakeOf(pitfall: string, advice: string): Mistake {
  return { pitfall, advice };
}
