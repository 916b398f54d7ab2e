// How deep JSON is nested. Whatever goes through it level by level, ours or another program's, gives up somewhere.

/** True when there are objects or arrays in more than so many levels. */
export function isDeeper(value: unknown, levelsMax: number): boolean {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  return levelsMax === 0 || Object.values(value).some((each) => isDeeper(each, levelsMax - 1));
}
