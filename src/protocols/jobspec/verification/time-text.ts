// Reads the times in JobSpecs and trust lists: RFC 3339, with seconds and a zone.

const rfc3339 = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses a time such as `2026-01-31T12:00:00Z` to milliseconds since 1970. Returns undefined when it is not a valid time. */
export function parseTimeMs(text: string): number | undefined {
  const day = rfc3339.exec(text)?.[1];
  const ms = day === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) || !isDay(day) ? undefined : ms;
}

/** Returns true for a day that exists. Date.parse rolls 30 February over to March, so the day is printed and compared. */
function isDay(day: string | undefined): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, day?.length) === day;
}
