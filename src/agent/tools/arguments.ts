// Reads the arguments that a model wrote for a tool call. Models sometimes get types wrong: a value of the wrong type counts as
// missing, so each tool handles both with one answer. A `MemberReader` would refuse it.

/** The arguments of a call. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/** How tools describe the path of a file. */
export const filePathParameter = {
  type: "string",
  description: "Path of the file, relative to the work directory or absolute inside it.",
};

/** Parses the arguments of a call, such as `{"path":"a"}`. Empty text and `null` mean no arguments. Errors are for models. */
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

/** Returns the text under `name`, or undefined when it is missing, empty or no text. */
export function readText(args: ToolArguments, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the number under `name` without its fraction, because some models write every number as a float. */
export function readInteger(args: ToolArguments, name: string): number | undefined {
  const value = args[name];
  return typeof value === "number" && Number.isFinite(value) ? Math.trunc(value) : undefined;
}
