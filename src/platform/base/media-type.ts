// Detects the media type of bytes by their signature. Providers refuse images whose announced type is wrong.

/** The kinds that models and programs tell apart. */
export type MediaKind = "image" | "audio" | "file";

/** Returns the media type, or undefined for types that models do not read. */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  // Latin-1 maps each byte to one character, so that signatures can be written as text.
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headBytes)).toString("latin1");
  return signatures.find(([pattern]) => pattern.test(head))?.[1];
}

const headBytes = 16;

const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF.{4}WEBP/s, "image/webp"],
  [/^%PDF-/, "application/pdf"],
  [/^RIFF.{4}WAVE/s, "audio/wav"],
  [/^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/, "audio/mpeg"],
  [/^\xff[\xf0\xf1\xf8\xf9]/, "audio/aac"],
  [/^fLaC/, "audio/flac"],
  [/^OggS/, "audio/ogg"],
  [/^FORM.{4}AIF[FC]/s, "audio/aiff"],
];

/** Returns the kind of a media type. */
export function kindOf(mediaType: string): MediaKind {
  const [kind] = mediaType.split("/");
  return kind === "image" || kind === "audio" ? kind : "file";
}
