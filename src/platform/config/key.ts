// The definition of one setting: its names, its default, and how the text of a source becomes its value.

/** One setting. */
export interface Key<T> {
  /** Its path in a YAML file and its name in messages, such as `server.tls.cert_file`. */
  readonly path: string;
  /** Environment variables that set it. The first non-empty one counts. */
  readonly variables: readonly [string, ...string[]];
  readonly fallback: T;
  /** Parses the text of a source into the value, or returns the problem. */
  readonly read: (text: string) => T | Wrong;
  readonly about: string;
  /** The effective default, when the default value alone does not show it. */
  readonly fallbackAbout?: string;
  /** Separates the items of a list in a text; a YAML file may use a list instead. A setting without it accepts no list. */
  readonly separator?: string;
  /** The value is never shown, and may come from the file that `<variable>_FILE` names. */
  readonly secret?: true;
}

/** Settings by their names in code. */
export type KeyTable = Readonly<Record<string, Key<unknown>>>;

/** The values of a table's settings. */
export type ValuesOf<Table extends KeyTable> = { readonly [Name in keyof Table]: Table[Name]["fallback"] };

/** Why a text is not a value of the setting. */
export type Wrong = Expected | Refused;

/** The text is invalid. The message is `expected <what>` after the text, unless that is secret. */
export class Expected {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
}

/**
 * The text is well-formed but refused, in the wording of the Agent Runner document. The words follow the key in the message.
 */
export class Refused {
  readonly words: string;
  constructor(words: string) {
    this.words = words;
  }
}

/** A row of the table. The names of its variables follow from its path. */
export interface Row<T> {
  readonly path: string;
  readonly fallback: T;
  readonly about: string;
  /** The Agent Runner document defines the setting: it also accepts the document's variable, `AGENT_RUNNER_…`. */
  readonly documented?: true;
  /** The variable's name, when it does not follow from the path. */
  readonly variable?: string;
  /** Names that other programs use for the same setting. */
  readonly also?: readonly string[];
  readonly fallbackAbout?: string;
}

/** Builds the setting of a row. */
export function makeKey<T>(row: Row<T>, read: Key<T>["read"]): Key<T> {
  const { path, fallback, about, fallbackAbout } = row;
  const name = row.variable ?? path.toUpperCase().replaceAll(".", "_");
  const documented = row.documented === true ? [`AGENT_RUNNER_${name}`] : [];
  const variables = [`RUNNEL_${name}`, ...documented, ...(row.also ?? [])] as const;
  return { path, variables, fallback, read, about, ...(fallbackAbout !== undefined && { fallbackAbout }) };
}
