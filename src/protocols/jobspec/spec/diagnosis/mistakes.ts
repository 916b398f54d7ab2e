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
export interface Slip {
  readonly mistake: Mistake;
  readonly change: Partial<Writing>;
}

function slip(pitfall: string, advice: string, change: Partial<Writing>): Slip {
  return { mistake: { pitfall, advice }, change };
}

const slips: readonly Slip[] = [
  slip("id_included", "leave the outermost `id` out of the signed bytes", { keepsId: true }),
  slip("created_at_included", "leave the outermost `created_at` out of the signed bytes", { keepsCreatedAt: true }),
  slip("signature_fields_zeroed", "remove `signature` and `public_key` before signing instead of emptying them", {
    emptiesSignature: true,
  }),
  slip("nulls_kept", "remove members that are null, in objects at every level", { keepsNulls: true }),
  slip("empty_objects_kept", "remove members that are empty objects, from the inside out", { keepsEmptyObjects: true }),
  slip("empty_strings_dropped", 'keep members that are ""', { dropsEmptyTexts: true }),
  slip("zero_rate_kept", "remove `constraints.min_success_rate` when it is 0", { rate: "kept" }),
  slip("zero_rate_dropped_first", "remove a rate of 0 after the empty objects, so that `constraints` stays", {
    rate: "dropped first",
  }),
  slip("unsorted", "sort the members of every object by name", { order: "as received" }),
  slip("utf16_order", "sort names by their UTF-8 bytes, not by UTF-16 units", { order: "UTF-16" }),
  slip("no_html_escape", "write <, > and & in texts as \\u003c, \\u003e and \\u0026", { escapesHtml: false }),
  slip("line_separators_raw", "write U+2028 and U+2029 in texts as \\u2028 and \\u2029", {
    escapesLineSeparators: false,
  }),
  slip("negative_zero_as_zero", "write the number -0 as -0", { showsNegativeZero: false }),
  slip("pretty_printed", "write no white space between members", { indent: 2 }),
  slip("pretty_printed", "write no white space between members", { indent: 4 }),
  slip("trailing_newline", "end without a newline", { end: "\n" }),
];

/** Every mistake by itself. */
export const singles: readonly (readonly Slip[])[] = slips.map((each) => [each]);
/** The mistakes that JSON.stringify with sorted names makes all at once. */
const plainStringify = slips.filter(({ mistake }) =>
  ["utf16_order", "no_html_escape", "line_separators_raw", "negative_zero_as_zero"].includes(mistake.pitfall),
);
/** Every pair of mistakes, and the mistakes of JSON.stringify with and without one more. */
export const pairs: readonly (readonly Slip[])[] = [
  plainStringify,
  ...slips.map((each) => [...plainStringify, each]),
  ...slips.flatMap((first, index) => slips.slice(index + 1).map((second) => [first, second])),
];
