// The forms in which a secret may occur in a text: plain, inside JSON, inside a URL, and as base64.

import { valueCharsMin } from "./find-values.ts";

/** Returns all forms to search for, except those that are too short to be searched. */
export function formsOf(secret: string): readonly string[] {
  const plain = [secret, ...passwordsOf(secret)].flatMap(plainFormsOf);
  // An error text that quotes JSON is escaped once more when it is logged.
  const forms = plain.flatMap((form) => [form, escapeJson(form), escapeJson(escapeJson(form))]);
  return [...new Set(forms)].filter((form) => form.length >= valueCharsMin);
}

/** Returns the passwords of a secret URL: error messages may contain the password alone. */
function passwordsOf(secret: string): readonly string[] {
  const password = URL.parse(secret)?.password ?? "";
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    // A percent sign that encodes nothing is literal.
    return [password];
  }
}

function plainFormsOf(secret: string): readonly string[] {
  const inUrls = [
    encodeURIComponent(whole(secret)),
    new URLSearchParams({ of: secret }).toString().slice("of=".length),
  ];
  return [secret, ...inUrls, ...inUrls.map(lowerEscapes), ...base64FormsOf(secret)];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Half a surrogate pair has no encoding, so no client can have sent it. */
function whole(text: string): string {
  return text.toWellFormed();
}

function lowerEscapes(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (encoded) => encoded.toLowerCase());
}

/**
 * Base64 encodes three bytes at a time, so a secret's encoding depends on its offset, as in `user:secret`. Returns, for each of
 * the three offsets, the part that depends on the secret alone.
 */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64url");
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const form = text.slice(first, last);
    return [form, form.replaceAll("-", "+").replaceAll("_", "/")];
  });
}
