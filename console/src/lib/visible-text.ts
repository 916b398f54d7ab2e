// Text from models, tools and files, made safe to look at: characters that move or hide other text become visible signs.

/** ESC and the other control characters except tab and line feed; marks that change the direction or are invisible. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;

/** Example: `\u001b[31m` becomes `␛[31m`, and a right-to-left override becomes `‹U+202E›`. */
export function visibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(hidden, (character) => {
    const code = character.codePointAt(0) ?? 0;
    // Emoji are joined by U+200D, which hides nothing.
    if (code === 0x200d) {
      return character;
    }
    return code < 0x20
      ? String.fromCodePoint(0x2400 + code)
      : `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/** The parts of JSON text: strings, and everything else that is not white space. */
const jsonParts = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/**
 * Returns JSON text with indentation, or the text itself when it is not JSON. Numbers, escapes and repeated keys stay as they are
 * written: a person decides about them.
 */
export function prettyJson(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let shown = "";
  let depth = 0;
  let last = "";
  const lineOf = (): string => `\n${"  ".repeat(depth)}`;
  for (const [part] of text.matchAll(jsonParts)) {
    const isClosing = part === "}" || part === "]";
    depth -= isClosing ? 1 : 0;
    if (isClosing ? last !== "{" && last !== "[" : last === "," || last === "{" || last === "[") {
      shown += lineOf();
    }
    shown += part === ":" ? ": " : part;
    depth += part === "{" || part === "[" ? 1 : 0;
    last = part;
  }
  return shown;
}
