// Leaves members out of a JSON object, or elements out of an array, and keeps every other byte of it.

import { findJson, parseJsonText } from "../../../platform/base/json/text.ts";

/** Returns the object without the members of a name, or with another member in their place. */
export function withoutMember(json: string, name: string, instead?: string): string {
  if (!json.includes(`"${name}"`)) {
    return json;
  }
  const node = parseJsonText(json);
  const members = node.kind === "object" ? node.members : [];
  const kept = members.flatMap(({ key, value }) =>
    key.value === name ? (instead ?? []) : json.slice(key.start, value.end),
  );
  return `{${kept.join(",")}}`;
}

/**
 * Returns the object without its largest members, or the array without its largest elements, so that it has at most this many bytes.
 * Returns undefined for another value that is larger, or one that cannot be read. Example: an image in base64 is left out.
 */
export function fitJson(json: string, bytesMax: number): string | undefined {
  const bytes = Buffer.byteLength(json);
  if (bytes <= bytesMax) {
    return json;
  }
  const node = findJson(json);
  switch (node?.kind) {
    case "object": {
      const members = node.members.map(({ key, value }) => json.slice(key.start, value.end));
      return `{${withoutLargest(members, bytes - bytesMax).join(",")}}`;
    }
    case "array": {
      const elements = node.items.map(({ start, end }) => json.slice(start, end));
      return `[${withoutLargest(elements, bytes - bytesMax).join(",")}]`;
    }
    default:
      return undefined;
  }
}

/** Returns the texts without the largest ones, which together have at least this many bytes. */
function withoutLargest(texts: readonly string[], bytesOver: number): readonly string[] {
  const bySize = texts.map((text, place) => ({ place, bytes: Buffer.byteLength(text) }));
  const dropped = new Set<number>();
  let bytes = 0;
  for (const each of bySize.toSorted((one, other) => other.bytes - one.bytes)) {
    if (bytes < bytesOver) {
      bytes += each.bytes;
      dropped.add(each.place);
    }
  }
  return texts.filter((_, place) => !dropped.has(place));
}
