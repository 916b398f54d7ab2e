// The address of the runner that works on a run.

/** Example: `plugin:acme/helper/default` gives `/runners/plugin%3Aacme%2Fhelper%2Fdefault`. */
export function runnerPath(runnerId: string, choice: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(choice).toString();
  return `/runners/${encodeURIComponent(runnerId)}${query === "" ? "" : `?${query}`}`;
}
