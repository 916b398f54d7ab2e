// Decodes bytes that arrive as text: base64, or a data URL.

/** Decoded bytes. */
export interface Inline {
  readonly bytes: Uint8Array;
  /** The type in the data URL; undefined when it has no type. */
  readonly mediaType: string | undefined;
}

/**
 * Decodes base64 or a data URL such as `data:image/png;base64,iVBORw0KGgo=`. Returns undefined for other text. Line breaks and
 * missing padding are accepted.
 */
export function decodeInline(text: string): Inline | undefined {
  if (!isDataUrl(text)) {
    return decodeBase64(text, undefined);
  }
  const comma = text.indexOf(",");
  const [type = "", ...settings] = text.slice(dataScheme.length, Math.max(comma, 0)).split(";");
  const isBase64 = settings.at(-1)?.trim().toLowerCase() === "base64";
  return comma !== -1 && isBase64
    ? decodeBase64(text.slice(comma + 1), type.trim().toLowerCase() || undefined)
    : undefined;
}

const dataScheme = "data:";

/** Returns whether the text begins with `data:`. */
export function isDataUrl(text: string): boolean {
  return text.slice(0, dataScheme.length).toLowerCase() === dataScheme;
}

function decodeBase64(text: string, mediaType: string | undefined): Inline | undefined {
  const bare = text.replace(/\s+/g, "");
  // One character class, so that a long text is scanned only once.
  if (bare === "" || !/^[A-Za-z0-9+/]*={0,2}$/.test(bare)) {
    return undefined;
  }
  const bytes = Buffer.from(bare, "base64");
  return bytes.length === 0 ? undefined : { bytes, mediaType };
}
