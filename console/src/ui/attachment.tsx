// A file that came as base64, from a person, a model or a tool. Images, sounds and PDFs of known formats are shown, by their first
// bytes and not by what the sender calls them. None of these formats has scripts that reach the page: the browser's own viewer shows a
// PDF, in a process of its own. A person may save any other file. Nothing is loaded from elsewhere.

import { useEffect, useState } from "react";
import { formatBytes } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";

type Shown = "image" | "sound" | "document";

/** How the bytes of each format begin, and for containers of several formats what stands behind their sizes. */
const formats: readonly (readonly [shown: Shown, type: string, start: string, rest?: string])[] = [
  ["image", "image/png", "\x89PNG"],
  ["image", "image/jpeg", "\xff\xd8\xff"],
  ["image", "image/gif", "GIF8"],
  ["image", "image/webp", "RIFF", "WEBP"],
  ["sound", "audio/wav", "RIFF", "WAVE"],
  ["sound", "audio/mpeg", "ID3"],
  ["sound", "audio/mpeg", "\xff\xfb"],
  ["sound", "audio/mpeg", "\xff\xf3"],
  ["sound", "audio/ogg", "OggS"],
  ["sound", "audio/flac", "fLaC"],
  ["document", "application/pdf", "%PDF-"],
];
const restAt = 8;
/** More would stop the page while it is decoded. */
const base64CharsMax = 30_000_000;

interface File {
  readonly url: string;
  readonly bytes: number;
  readonly shown: Shown | undefined;
}

/** Shows the file. Text that is sent as an image, without being one, becomes a description. */
export function Attachment({
  base64,
  name,
  isImage,
}: {
  readonly base64: string;
  readonly name: string;
  /** Whether the sender calls it an image. */
  readonly isImage: boolean;
}) {
  const [file, setFile] = useState<File | undefined>(undefined);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const read = readFile(base64);
    if (read === undefined || (isImage && read.shown !== "image")) {
      setBroken(true);
      return;
    }
    const url = URL.createObjectURL(read.blob);
    setFile({ url, bytes: read.blob.size, shown: read.shown });
    return () => URL.revokeObjectURL(url);
  }, [base64, isImage]);
  const label = visibleText(name === "" ? (isImage ? "image" : "file") : name);
  if (isBroken) {
    return (
      <p className="hint">
        [{label}: not {isImage ? "an image" : "a file"} that the page shows]
      </p>
    );
  }
  if (file !== undefined && (file.shown === undefined || file.shown === "document")) {
    return (
      <>
        {file.shown === "document" && navigator.pdfViewerEnabled && (
          <iframe className="document" src={file.url} title={label} />
        )}
        <p>
          <a href={file.url} download={name === "" ? "file" : name}>
            {label}
          </a>{" "}
          <span className="hint">{formatBytes(file.bytes)}</span>
        </p>
      </>
    );
  }
  return (
    <figure className="picture">
      {file?.shown === "image" && <img src={file.url} alt={label} onError={() => setBroken(true)} />}
      {file?.shown === "sound" && (
        // biome-ignore lint/a11y/useMediaCaption: no sender gives captions.
        <audio src={file.url} controls preload="metadata" aria-label={label} onError={() => setBroken(true)} />
      )}
      <figcaption>{label}</figcaption>
    </figure>
  );
}

/** Some callers send the file as a `data:` URL. */
function readFile(text: string): { readonly blob: Blob; readonly shown: Shown | undefined } | undefined {
  const base64 = text.startsWith("data:") ? text.slice(text.indexOf(",") + 1) : text;
  if (base64.length > base64CharsMax) {
    return undefined;
  }
  try {
    const binary = atob(base64);
    const [shown, type] =
      formats.find(([, , start, rest = ""]) => binary.startsWith(start) && binary.startsWith(rest, restAt)) ?? [];
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return { blob: new Blob([bytes], { type: type ?? "application/octet-stream" }), shown };
  } catch {
    return undefined;
  }
}
