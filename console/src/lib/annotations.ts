// Annotations of runs as chips: their first simple members.

const chipsMax = 3;
const chipChars = 40;

/** Example: `{"team":"billing","tags":["a"]}` gives `["team: billing"]`. */
export function chipsOf(annotations: string): readonly string[] {
  const members = Object.entries(readObject(annotations)).filter(([, value]) =>
    ["string", "number", "boolean"].includes(typeof value),
  );
  return members.slice(0, chipsMax).map(([name, value]) => {
    const chip = `${name}: ${String(value)}`;
    return chip.length > chipChars ? `${chip.slice(0, chipChars)}…` : chip;
  });
}

/** Returns the id of the evaluation that a session is a part of, or undefined. */
export function evaluationOf(annotations: string): string | undefined {
  const { evaluation } = readObject(annotations) as { readonly evaluation?: unknown };
  return typeof evaluation === "string" ? evaluation : undefined;
}

function readObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}
