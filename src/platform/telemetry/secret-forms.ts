// The ways in which a secret may stand in a text: as it is, inside JSON, inside a URL, and as base64.

import { valueCharsMin } from "./find-values.ts";

/** Every text to look for. Forms of fewer characters than are searched for are left out. */
export function formsOf(secret: string): readonly string[] {
  const plain = [secret, ...passwordsOf(secret)].flatMap(plainFormsOf);
  // An error text of somebody's that quotes JSON is escaped once more where it is logged.
  const forms = plain.flatMap((form) => [form, escapeJson(form), escapeJson(escapeJson(form))]);
  return [...new Set(forms)].filter((form) => form.length >= valueCharsMin);
}

/** A URL that is secret is so for the sake of its password, which errors name alone. */
function passwordsOf(secret: string): readonly string[] {
  const password = URL.parse(secret)?.password ?? "";
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    // A percent sign that encodes nothing stands for itself.
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

/** Half of a character has no encoding: nobody can have sent one either. */
function whole(text: string): string {
  return text.toWellFormed();
}

function lowerEscapes(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (encoded) => encoded.toLowerCase());
}

/**
 * Base64 takes three bytes at a time, so the secret looks different by what stands before it, as in `user:secret`. Of each
 * of the three looks, what depends on the secret alone.
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
