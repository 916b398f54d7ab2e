// Measures the nesting of JSON, because every recursive reader, ours or another program's, fails at some depth.

/** Returns whether objects or arrays are nested in more than `levelsMax` levels. */
export function isDeeper(value: unknown, levelsMax: number): boolean {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  return levelsMax === 0 || Object.values(value).some((each) => isDeeper(each, levelsMax - 1));
}
