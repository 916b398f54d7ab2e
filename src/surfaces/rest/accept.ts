// What a caller accepts, where an answer has two forms.

/**
 * Whether a caller who would get text has to get JSON: it accepts JSON and no text. The most specific range that it names
 * decides, as RFC 9110 has it; somebody who names neither can read what everybody reads.
 */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = parseAccept(accept ?? "");
  const accepts = (...types: string[]): boolean =>
    types.map((type) => ranges.get(type)).find((isAccepted) => isAccepted !== undefined) ?? false;
  const acceptsSuffix = [...ranges].some(([type, isAccepted]) => isAccepted && type.endsWith("+json"));
  return (accepts("application/json", "application/*") || acceptsSuffix) && !accepts("text/plain", "text/*", "*/*");
}

/** Whether each range is accepted, by its name; a weight that is no number counts as none. */
function parseAccept(accept: string): ReadonlyMap<string, boolean> {
  const ranges = new Map<string, boolean>();
  for (const part of accept.toLowerCase().split(",")) {
    const [type = "", ...params] = part.split(";").map((text) => text.trim());
    const weight = params.find((param) => /^q\s*=/.test(param))?.replace(/^q\s*=/, "") ?? "1";
    ranges.set(type, ranges.get(type) === true || Number(weight) > 0);
  }
  return ranges;
}
