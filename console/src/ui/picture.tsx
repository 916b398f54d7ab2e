// An image that came as base64, from a person, a model or a tool. Only formats without scripts are shown, by their first bytes and
// not by what the sender calls them; nothing is loaded from elsewhere.

import { useEffect, useState } from "react";
import { visibleText } from "../lib/visible-text.ts";

/** The first bytes of each format. */
const formats: readonly (readonly [type: string, bytes: readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46]],
];
/** More would stop the page while it is decoded. */
const base64CharsMax = 30_000_000;

/** Shows the image; a format that is not shown, or is not an image, becomes a description. */
export function Picture({ base64, name }: { readonly base64: string; readonly name: string }) {
  const [url, setUrl] = useState<string | undefined>(undefined);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const image = readImage(base64);
    if (image === undefined) {
      setBroken(true);
      return;
    }
    const made = URL.createObjectURL(image);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [base64]);
  const label = visibleText(name === "" ? "image" : name);
  return isBroken ? (
    <p className="hint">[{label}: not an image that the page shows]</p>
  ) : (
    <figure className="picture">
      {url !== undefined && <img src={url} alt={label} onError={() => setBroken(true)} />}
      <figcaption>{label}</figcaption>
    </figure>
  );
}

/** Some callers send the image as a `data:` URL. */
function readImage(text: string): Blob | undefined {
  const base64 = text.startsWith("data:") ? text.slice(text.indexOf(",") + 1) : text;
  if (base64.length > base64CharsMax) {
    return undefined;
  }
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const format = formats.find(([, first]) => first.every((byte, index) => bytes[index] === byte));
    return format === undefined ? undefined : new Blob([bytes], { type: format[0] });
  } catch {
    return undefined;
  }
}
