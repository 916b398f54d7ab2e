// Reads the Accept header, for answers with a text and a JSON form.

/**
 * Whether a caller gets JSON instead of text: it accepts JSON and does not accept text. The most specific range decides (RFC
 * 9110). A caller that names neither gets text.
 */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = parseAccept(accept ?? "");
  const accepts = (...types: string[]): boolean =>
    types.map((type) => ranges.get(type)).find((isAccepted) => isAccepted !== undefined) ?? false;
  const acceptsSuffix = [...ranges].some(([type, isAccepted]) => isAccepted && type.endsWith("+json"));
  return (accepts("application/json", "application/*") || acceptsSuffix) && !accepts("text/plain", "text/*", "*/*");
}

/** Returns whether each range is accepted, by name. An invalid weight counts as not accepted. */
function parseAccept(accept: string): ReadonlyMap<string, boolean> {
  const ranges = new Map<string, boolean>();
  for (const part of accept.toLowerCase().split(",")) {
    const [type = "", ...params] = part.split(";").map((text) => text.trim());
    const weight = params.find((param) => /^q\s*=/.test(param))?.replace(/^q\s*=/, "") ?? "1";
    ranges.set(type, ranges.get(type) === true || Number(weight) > 0);
  }
  return ranges;
}
