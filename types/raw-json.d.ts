// JSON.rawJSON, which Node has and TypeScript's declarations do not have yet: a JSON text that prints as it was written.

interface RawJson {
  readonly rawJSON: string;
}

interface JSON {
  /** Throws a SyntaxError unless the text is one string, number, boolean or null. */
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}
