// Compares two bodies.

/** Returns where two JSON values differ, each place with both values. A list that is longer differs at its further items. */
export function differences(ours: unknown, theirs: unknown, place = ""): readonly string[] {
  if (!isObject(ours) || !isObject(theirs) || Array.isArray(ours) !== Array.isArray(theirs)) {
    const isSame = ours === theirs || JSON.stringify(ours) === JSON.stringify(theirs);
    return isSame ? [] : [`${place}: ${print(ours)}, the SDK: ${print(theirs)}`];
  }
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return Array.from(names).flatMap((name) =>
    differences(ours[name], theirs[name], Array.isArray(ours) ? `${place}[]` : `${place}.${name}`),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

const charsMax = 120;

function print(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, charsMax);
}
