// The fields that an update changes (AIP-134): those of its mask, or without a mask those that are set in the resource.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../platform/base/fault.ts";

/**
 * Returns the fields of the resource that the update changes, by name. `*` means all of `changeable`.
 * @throws Fault INVALID_ARGUMENT for a path that is not in `changeable`.
 */
export function readUpdate<Desc extends DescMessage, Name extends keyof MessageShape<Desc> & string>(
  schema: Desc,
  resource: MessageShape<Desc>,
  mask: FieldMask | undefined,
  changeable: readonly Name[],
): Partial<Pick<MessageShape<Desc>, Name>> {
  const fields = changeable.map((name) => {
    const field = schema.field[name];
    if (field === undefined) {
      throw new Error(`${schema.typeName} has no field ${name}`);
    }
    return { name, path: field.name, isSet: reflect(schema, resource).isSet(field) };
  });
  const paths = mask === undefined || mask.paths.length === 0 ? undefined : new Set(mask.paths);
  const known = new Set(["*", ...fields.map(({ path }) => path)]);
  for (const path of paths ?? []) {
    if (!known.has(path)) {
      const fix = `use ${fields.map((field) => field.path).join(", ")} or *`;
      throw invalidField("update_mask", `${JSON.stringify(path)} cannot be changed: ${fix}`);
    }
  }
  const isChanged = (path: string, isSet: boolean): boolean =>
    paths === undefined ? isSet : paths.has("*") || paths.has(path);
  const changed = fields.filter(({ path, isSet }) => isChanged(path, isSet));
  return Object.fromEntries(changed.map(({ name }) => [name, resource[name]])) as Partial<
    Pick<MessageShape<Desc>, Name>
  >;
}
