// JSON Schema, and references to the components of the document.

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** Returns a reference to a schema component. */
export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
