// The usual mistakes of signers, and the pairs that occur together.

import type { Writing } from "./writing.ts";

/** A mistake of a signer. */
export interface Mistake {
  /** A name for programs. */
  readonly pitfall: string;
  /** Tells the signer what to do. */
  readonly advice: string;
}

/** A mistake that is another way to write the spec. */
export interface Deviation {
  readonly mistake: Mistake;
  readonly change: Partial<Writing>;
}

function deviation(pitfall: string, advice: string, change: Partial<Writing>): Deviation {
  return { mistake: { pitfall, advice }, change };
}

const deviations: readonly Deviation[] = [
  deviation("id_included", "leave the outermost `id` out of the signed bytes", { keepsId: true }),
  deviation("created_at_included", "leave the outermost `created_at` out of the signed bytes", {
    keepsCreatedAt: true,
  }),
  deviation("signature_fields_zeroed", "remove `signature` and `public_key` before signing instead of emptying them", {
    emptiesSignature: true,
  }),
  deviation("nulls_kept", "remove members that are null, in objects at every level", { keepsNulls: true }),
  deviation("empty_objects_kept", "remove members that are empty objects, from the inside out", {
    keepsEmptyObjects: true,
  }),
  deviation("empty_strings_dropped", 'keep members that are ""', { dropsEmptyTexts: true }),
  deviation("zero_rate_kept", "remove `constraints.min_success_rate` when it is 0", { rate: "kept" }),
  deviation("zero_rate_dropped_first", "remove a rate of 0 after the empty objects, so that `constraints` stays", {
    rate: "dropped first",
  }),
  deviation("unsorted", "sort the members of every object by name", { order: "as received" }),
  deviation("utf16_order", "sort names by their UTF-8 bytes, not by UTF-16 units", { order: "UTF-16" }),
  deviation("no_html_escape", "write <, > and & in texts as \\u003c, \\u003e and \\u0026", { escapesHtml: false }),
  deviation("line_separators_raw", "write U+2028 and U+2029 in texts as \\u2028 and \\u2029", {
    escapesLineSeparators: false,
  }),
  deviation("negative_zero_as_zero", "write the number -0 as -0", { showsNegativeZero: false }),
  deviation("pretty_printed", "write no white space between members", { indent: 2 }),
  deviation("pretty_printed", "write no white space between members", { indent: 4 }),
  deviation("trailing_newline", "end without a newline", { end: "\n" }),
];

/** Every mistake by itself. */
export const singles: readonly (readonly Deviation[])[] = deviations.map((each) => [each]);
/** The mistakes that JSON.stringify with sorted names makes all at once. */
const plainStringify = deviations.filter(({ mistake }) =>
  ["utf16_order", "no_html_escape", "line_separators_raw", "negative_zero_as_zero"].includes(mistake.pitfall),
);
/** Every pair of mistakes, and the mistakes of JSON.stringify with and without one more. */
export const pairs: readonly (readonly Deviation[])[] = [
  plainStringify,
  ...deviations.map((each) => [...plainStringify, each]),
  ...deviations.flatMap((first, index) => deviations.slice(index + 1).map((second) => [first, second])),
];
