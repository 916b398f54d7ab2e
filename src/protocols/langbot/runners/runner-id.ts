// Ids of runners: `plugin:author/name/runner`.

/** The parts of a runner's id. */
export interface RunnerIdParts {
  readonly author: string;
  readonly name: string;
  readonly runner: string;
}

const part = "[A-Za-z0-9_.-]{1,64}";
const pattern = new RegExp(`^plugin:(${part})/(${part})/(${part})$`);

/** The form of an id, for messages. */
export const runnerIdForm = "plugin:author/name/runner, each part 1 to 64 characters of A-Z a-z 0-9 _ . -";

/** Parses an id such as `plugin:author/name/runner`. Returns undefined when it is invalid. */
export function parseRunnerId(text: string): RunnerIdParts | undefined {
  const [, author, name, runner] = pattern.exec(text) ?? [];
  return author === undefined || name === undefined || runner === undefined ? undefined : { author, name, runner };
}

/** Prints an id: `plugin:author/name/runner`. */
export function formatRunnerId({ author, name, runner }: RunnerIdParts): string {
  return `plugin:${author}/${name}/${runner}`;
}
