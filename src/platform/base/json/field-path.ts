// Dotted field paths, as path templates and query keys use them: resolves a text to descriptors and walks into a message.

import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** A path from the outermost field to the named field. All fields but the last are singular messages. */
export interface FieldPath {
  readonly parents: readonly (DescField & { readonly fieldKind: "message" })[];
  readonly field: DescField;
}

/** Finds a path by proto names or lowerCamel names. Returns undefined when a part does not exist or cannot hold fields. */
export function resolveFieldPath(desc: DescMessage, text: string): FieldPath | undefined {
  const parents: (DescField & { readonly fieldKind: "message" })[] = [];
  const names = text.split(".", fieldPathPartsMax + 1);
  if (names.length > fieldPathPartsMax) {
    return undefined;
  }
  const last = names.pop();
  let parent = desc;
  for (const name of names) {
    const field = findField(parent, name);
    if (field?.fieldKind !== "message") {
      return undefined;
    }
    parents.push(field);
    parent = field.message;
  }
  const field = last === undefined ? undefined : findField(parent, last);
  return field === undefined ? undefined : { parents, field };
}

/** Prints a path with proto names, regardless of the names it was written in. */
export function formatFieldPath(path: FieldPath): string {
  return [...path.parents, path.field].map((field) => field.name).join(".");
}

/** Returns the message in a field. Creates and sets an empty one when the field is unset. */
export function openMessageField(
  message: ReflectMessage,
  field: DescField & { readonly fieldKind: "message" },
): ReflectMessage {
  if (message.isSet(field)) {
    return message.get(field);
  }
  const child = reflect(field.message);
  message.set(field, child);
  return child;
}

/** Returns the other member of the field's oneof that is already set, or undefined. */
export function findOneofConflict(message: ReflectMessage, field: DescField): DescField | undefined {
  const taken = field.oneof === undefined ? undefined : message.oneofCase(field.oneof);
  return taken === field ? undefined : taken;
}

/** Far more than any request has. It keeps a long query from nesting a recursive message too deeply. */
const fieldPathPartsMax = 32;

function findField(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name || field.jsonName === name);
}
