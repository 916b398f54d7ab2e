// Reads JSON that authors of runners, bindings and MCP servers wrote: nothing about its form is sure.

/** Returns undefined for a text that is no JSON. */
export function readJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the member of an object. Undefined when there is no such member, and for every other value. */
export function memberOf(value: unknown, key: string): unknown {
  return Object.entries(Object(value)).find(([name]) => name === key)?.[1];
}
