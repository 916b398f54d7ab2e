// Leaves members out of a JSON object and keeps every other byte of it.

import { parseJsonText } from "../../../platform/base/json/text.ts";

/** Returns the object without the members of a name. */
export function withoutMember(json: string, name: string): string {
  return json.includes(`"${name}"`) ? printMembers(membersOf(json).filter(({ key }) => key !== name)) : json;
}

/** Returns the object without its largest members, so that it has at most this many bytes. Example: an image in base64. */
export function fitObject(json: string, bytesMax: number): string {
  let bytes = Buffer.byteLength(json);
  if (bytes <= bytesMax) {
    return json;
  }
  const members = membersOf(json);
  const dropped = new Set<Member>();
  for (const member of members.toSorted((one, other) => other.text.length - one.text.length)) {
    if (bytes > bytesMax) {
      bytes -= Buffer.byteLength(member.text);
      dropped.add(member);
    }
  }
  return printMembers(members.filter((member) => !dropped.has(member)));
}

interface Member {
  readonly key: string;
  /** The name and the value as they are written. */
  readonly text: string;
}

function membersOf(json: string): readonly Member[] {
  const node = parseJsonText(json);
  const members = node.kind === "object" ? node.members : [];
  return members.map(({ key, value }) => ({ key: key.value, text: json.slice(key.start, value.end) }));
}

function printMembers(members: readonly Member[]): string {
  return `{${members.map(({ text }) => text).join(",")}}`;
}
