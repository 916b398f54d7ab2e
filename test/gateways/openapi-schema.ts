// Finds its way through the OpenAPI document.

/** Returns every `$ref` in the document. */
export function findReferences(value: unknown): string[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, child]) =>
    key === "$ref" && typeof child === "string" ? [child] : findReferences(child),
  );
}

/** Returns the target of a reference of the document. */
export function lookUp(document: object, reference: string): unknown {
  const path = reference.replace(/^#\//, "").split("/");
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
}
