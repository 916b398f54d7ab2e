// Times as people and programs write them in JobSpecs and trust lists: RFC 3339, with seconds and a zone.

const rfc3339 = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Milliseconds since 1970; undefined when it is no such text or no such time. */
export function parseTimeMs(text: string): number | undefined {
  const day = rfc3339.exec(text)?.[1];
  const ms = day === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) || !isDay(day) ? undefined : ms;
}

/** Date.parse rolls 30 February over to March; only a day that prints as it was written exists. */
function isDay(day: string | undefined): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, day?.length) === day;
}
