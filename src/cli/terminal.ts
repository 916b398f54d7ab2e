// The only file that prints. Text from outside (models, tools, services, files, logs) must not act on a terminal: it could move
// the cursor, rewrite earlier text, set the title or answer for the operator. So a terminal gets a visible sign for each
// control character, and a pipe gets the text as it is.

import { once } from "node:events";
import { newNonce } from "../platform/base/ids.ts";
import { printJson as textOf } from "../platform/base/json/exact.ts";

/** Embeddings, overrides and isolates, which show text in another order than it has. */
const bidi = "\\u202A-\\u202E\\u2066-\\u2069";
const acting = new RegExp(`\\r\\n|[\\p{Cc}${bidi}]`, "gu");
const runsOfActing = new RegExp(`[\\p{Cc}${bidi}]+`, "gu");
/** JSON has these characters in strings only. Those below U+0020 are always escaped. */
const unescapedInJson = new RegExp(`[\\u007F-\\u009F${bidi}]`, "gu");

/** Replaces the ESC of our own colours until a text is printed. No caller can guess it. */
const ownEscape = `\uE000${newNonce()}\uE000`;
const escapeCharacter = "\u001b";

/** Marks the colours of `text` as our own: only these reach a terminal. */
export function markOwn(text: string): string {
  return text.replaceAll(escapeCharacter, ownEscape);
}

/** Makes control characters visible: `\u001b[31mred` becomes `␛[31mred`. Newlines, tabs, joined and wide characters stay. */
export function makeVisible(text: string): string {
  return text.replace(acting, (found) =>
    found === "\n" || found === "\t" ? found : found === "\r\n" ? "\n" : signOf(found),
  );
}

/** Makes one line of a text, with a blank for each run of control characters. */
export function joinLines(text: string): string {
  return text.replace(runsOfActing, " ");
}

/** Returns a text for people as `stream` gets it: on a terminal with visible control characters. */
export function forPeople(text: string, { isTTY }: { readonly isTTY?: boolean }): string {
  return (isTTY === true ? makeVisible(text) : text).replaceAll(ownEscape, escapeCharacter);
}

/** Returns a JSON text as `stream` gets it: the same value, on a terminal with more characters escaped. */
export function forPrograms(json: string, { isTTY }: { readonly isTTY?: boolean }): string {
  return isTTY === true ? json.replace(unescapedInJson, (found) => `\\u${hexOf(found)}`) : json;
}

/** Prints a line on standard error. It never fails: the terminal may be gone. */
export function sayLine(text: string): void {
  console.error("%s", forPeople(text, process.stderr));
}

/** Prints a JSON document as a line on standard error. */
export function sayJson(value: unknown): void {
  console.error("%s", forPrograms(textOf(value), process.stderr));
}

/** Asks the terminal to mark pasted text, or to stop that. */
export function markPastes(isOn: boolean): void {
  process.stderr.write(`${escapeCharacter}[?2004${isOn ? "h" : "l"}`);
}

/** Prints a text on standard output. Waits while its reader is slow. */
export function print(text: string): Promise<void> {
  return write(forPeople(text, process.stdout));
}

/** Whether a terminal is on standard output, which shows text alone. */
export function showsText(): boolean {
  return process.stdout.isTTY === true;
}

/** Prints bytes on standard output as they are. Waits while its reader is slow. */
export function printBytes(bytes: Uint8Array): Promise<void> {
  return write(bytes);
}

/** Prints a JSON document as a line on standard output. Waits while its reader is slow. */
export function printJson(value: unknown): Promise<void> {
  return write(`${forPrograms(textOf(value), process.stdout)}\n`);
}

let hearsClosedPipe = false;

async function write(content: string | Uint8Array): Promise<void> {
  if (!hearsClosedPipe) {
    hearsClosedPipe = true;
    process.stdout.on("error", leaveQuietly);
  }
  if (!process.stdout.write(content)) {
    await once(process.stdout, "drain");
  }
}

/** Exits 0 when a reader closes the pipe, such as `| head -1`: it has what it wanted. */
function leaveQuietly(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") {
    process.exit(0);
  }
  throw error;
}

/** Returns the picture that Unicode has for a C0 character or DEL; other characters show their number. */
function signOf(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : `\\u${hexOf(character)}`;
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
