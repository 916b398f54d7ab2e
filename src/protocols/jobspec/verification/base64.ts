// Decodes base64 as Go's standard decoder does, because the signing contract's own service uses it. Padding is required, line
// ends inside are skipped, and the unused bits of the last character are ignored. Error positions count bytes, as in Go.

const alphabet = /^[A-Za-z0-9+/]$/;
const padding = "=";
const quantum = 4;

/** Matches most texts, in whole quanta. A match needs no closer look. */
const usual = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes padded base64, such as `AQID`. Throws an Error in Go's words: "illegal base64 data at input byte 3". */
export function decodeBase64(text: string): Uint8Array {
  const at = text.length % quantum === 0 && usual.test(text) ? undefined : findIllegalByte(text);
  if (at !== undefined) {
    throw new Error(`illegal base64 data at input byte ${at}`);
  }
  return Buffer.from(text, "base64");
}

function findIllegalByte(text: string): number | undefined {
  // Positions count bytes, so that an error in text beyond ASCII has the position that Go gives.
  const units = Buffer.from(text, "utf8").toString("latin1");
  let read = 0;
  for (let at = 0; at < units.length; at++) {
    const unit = units.charAt(at);
    if (isLineEnd(unit)) {
      continue;
    }
    if (unit === padding) {
      return findIllegalPadding(units, at, read % quantum);
    }
    if (!alphabet.test(unit)) {
      return at;
    }
    read += 1;
  }
  const left = read % quantum;
  return left === 0 ? undefined : units.length - left;
}

/** Checks the padding that begins at `start`; `held` is the number of characters before it in the last quantum. */
function findIllegalPadding(units: string, start: number, held: number): number | undefined {
  if (held < 2) {
    return start;
  }
  let at = skipLineEnds(units, start + 1);
  if (held === 2) {
    if (at === units.length) {
      return units.length;
    }
    if (units.charAt(at) !== padding) {
      return at - 1;
    }
    at = skipLineEnds(units, at + 1);
  }
  return at === units.length ? undefined : at;
}

function skipLineEnds(units: string, from: number): number {
  let at = from;
  while (isLineEnd(units.charAt(at))) {
    at += 1;
  }
  return at;
}

function isLineEnd(unit: string): boolean {
  return unit === "\n" || unit === "\r";
}
