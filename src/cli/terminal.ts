// The only place that prints. Text from outside (models, tools, services, files, logs) must not act on a terminal: it could
// move the cursor, rewrite what was shown, set the title or answer for the operator. So a terminal gets a visible sign for each
// control character, and a pipe gets the text as it is.

import { once } from "node:events";
import { newNonce } from "../platform/base/ids.ts";

/** Embeddings, overrides and isolates, which show text in another order than it has. */
const bidi = "\\u202A-\\u202E\\u2066-\\u2069";
const acting = new RegExp(`\\r\\n|[\\p{Cc}${bidi}]`, "gu");
const runsOfActing = new RegExp(`[\\p{Cc}${bidi}]+`, "gu");
/** In JSON they stand in strings only. Those below U+0020 are escaped in any case. */
const unescapedInJson = new RegExp(`[\\u007F-\\u009F${bidi}]`, "gu");

/** Stands for the ESC of our own colours until a text is printed. No caller can guess it. */
const ownEscape = `\uE000${newNonce()}\uE000`;
const escapeCharacter = "\u001b";

/** Marks the colours of `text` as our own: only these reach a terminal. */
export function markOwn(text: string): string {
  return text.replaceAll(escapeCharacter, ownEscape);
}

/** `\u001b[31mred` becomes `␛[31mred`. Newlines and tabs stay; joined and wide characters stay. */
export function makeVisible(text: string): string {
  return text.replace(acting, (found) =>
    found === "\n" || found === "\t" ? found : found === "\r\n" ? "\n" : signOf(found),
  );
}

/** Makes one line of a text, with a blank for each run of control characters. */
export function joinLines(text: string): string {
  return text.replace(runsOfActing, " ");
}

/** What `stream` gets of a text for people. */
export function forPeople(text: string, { isTTY }: { readonly isTTY?: boolean }): string {
  return (isTTY === true ? makeVisible(text) : text).replaceAll(ownEscape, escapeCharacter);
}

/** What `stream` gets of a JSON text: the same value, on a terminal with more characters escaped. */
export function forPrograms(json: string, { isTTY }: { readonly isTTY?: boolean }): string {
  return isTTY === true ? json.replace(unescapedInJson, (found) => `\\u${hexOf(found)}`) : json;
}

/** A line on standard error. It never fails: the terminal may be gone. */
export function sayLine(text: string): void {
  console.error("%s", forPeople(text, process.stderr));
}

export function sayJson(value: unknown): void {
  console.error("%s", forPrograms(JSON.stringify(value), process.stderr));
}

/** Prints a text on standard output. Waits while its reader is slow. */
export function print(text: string): Promise<void> {
  return write(forPeople(text, process.stdout));
}

export function printJson(value: unknown): Promise<void> {
  return write(`${forPrograms(JSON.stringify(value), process.stdout)}\n`);
}

let hearsClosedPipe = false;

async function write(text: string): Promise<void> {
  if (!hearsClosedPipe) {
    hearsClosedPipe = true;
    process.stdout.on("error", leaveQuietly);
  }
  if (!process.stdout.write(text)) {
    await once(process.stdout, "drain");
  }
}

/** A reader that closes the pipe, such as `| head -1`, has what it wanted. */
function leaveQuietly(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") {
    process.exit(0);
  }
  throw error;
}

/** Unicode has a picture of each C0 character and of DEL; the others show their number. */
function signOf(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : `\\u${hexOf(character)}`;
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
