// The cause of a failure in its own words: providers send JSON, of which a person needs the message.

/** Example: `API error (status 400): {"error":{"message":"too long"}}` gives `API error (status 400): too long`. */
export function plainError(text: string): string {
  const { before, message = "", after = "" } = splitError(text);
  return `${before}${message}${after}`;
}

/** Returns the message of a provider alone, for lists. Example: `API error (status 400): {"error":{"message":"too long"}}` gives `too long`. */
export function causeOf(text: string): string {
  const { before, message } = splitError(text);
  return message ?? before;
}

/** Splits a text around the message in its JSON; `message` is undefined without one. */
function splitError(text: string): { readonly before: string; readonly message?: string; readonly after?: string } {
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}") + 1];
  if (from === -1 || to <= from) {
    return { before: text };
  }
  try {
    const message = findMessage(JSON.parse(text.slice(from, to)));
    return message === undefined ? { before: text } : { before: text.slice(0, from), message, after: text.slice(to) };
  } catch {
    return { before: text };
  }
}

function findMessage(value: unknown): string | undefined {
  const { error, message } = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const [found] = [message, error].filter((each) => typeof each === "string" && each !== "");
  return typeof found === "string" ? found : error === undefined ? undefined : findMessage(error);
}
