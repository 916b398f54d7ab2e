// Reads what a model wrote as the arguments of a tool call. Models get types wrong now and then: a value of the wrong type
// counts as missing, so that each tool has one answer to both.

export type ToolArguments = Readonly<Record<string, unknown>>;

/** Parses the arguments of a call. No text and `null` mean no arguments; a problem is worded for the model. */
export function parseArguments(argumentsJson: string): { readonly args: ToolArguments } | { readonly error: string } {
  if (argumentsJson.trim() === "") {
    return { args: {} };
  }
  let value: unknown;
  try {
    value = JSON.parse(argumentsJson);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { error: `invalid arguments: not valid JSON (${problem}): send one JSON object` };
  }
  if (value === null) {
    return { args: {} };
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    return {
      error: `invalid arguments: expected a JSON object, got ${Array.isArray(value) ? "an array" : typeof value}`,
    };
  }
  return { args: value as ToolArguments };
}

/** The text under `name`; empty text counts as missing. */
export function readText(args: ToolArguments, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The number under `name` without its fraction: some models write every number as a float. */
export function readInteger(args: ToolArguments, name: string): number | undefined {
  const value = args[name];
  return typeof value === "number" && Number.isFinite(value) ? Math.trunc(value) : undefined;
}
