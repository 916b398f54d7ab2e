// Dotted field paths, as path templates and query keys use them: text → descriptors, and the way down into a message.

import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** From the outermost field to the one that is meant; never empty. All but the last are singular messages. */
export interface FieldPath {
  readonly parents: readonly (DescField & { readonly fieldKind: "message" })[];
  readonly field: DescField;
}

/** Finds a path by proto names or lowerCamel names; undefined when a part does not exist or nothing can be inside it. */
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

/** The path in proto names, whatever names it was written in. */
export function formatFieldPath(path: FieldPath): string {
  return [...path.parents, path.field].map((field) => field.name).join(".");
}

/** The message in a field; makes and sets an empty one when there is none. */
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

/** The other member of the field's oneof that is set already, if any. */
export function findOneofConflict(message: ReflectMessage, field: DescField): DescField | undefined {
  const taken = field.oneof === undefined ? undefined : message.oneofCase(field.oneof);
  return taken === field ? undefined : taken;
}

/** Far more than any request has; a message that can hold itself must not be nested as deep as a query is long. */
const fieldPathPartsMax = 32;

function findField(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name || field.jsonName === name);
}
