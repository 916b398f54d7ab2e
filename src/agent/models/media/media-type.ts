// What bytes are, by how they begin. Providers refuse images that are not of the type that they were announced with.

/** Returns undefined for types that models do not read. */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  // One character a byte, so that signatures can be written as texts.
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
];
