// What one setting is: its names, its default, and how the text of a source becomes its value.

export interface Key<T> {
  /** Its place in a YAML file and its name in messages, such as `server.tls.cert_file`. */
  readonly path: string;
  /** Environment variables that set it; the first one that is set counts. An empty one counts as unset. */
  readonly variables: readonly [string, ...string[]];
  readonly fallback: T;
  /** Turns the text of a source into the value, or says what is wrong with it. */
  readonly read: (text: string) => T | Wrong;
  readonly about: string;
  /** What the default comes to, where its value alone does not tell. */
  readonly fallbackAbout?: string;
  /** Stands between the items in a text; a YAML file may have a list instead. Settings without it take no list. */
  readonly separator?: string;
  /** Never shown, and may come from the file that `<variable>_FILE` names. */
  readonly secret?: true;
}

/** Settings by their names in code. */
export type KeyTable = Readonly<Record<string, Key<unknown>>>;

/** The values of a table's settings. */
export type ValuesOf<Table extends KeyTable> = { readonly [Name in keyof Table]: Table[Name]["fallback"] };

export type Wrong = Expected | Refused;

/** The text is not what it should be: `expected <what>` follows upon the text, unless that is secret. */
export class Expected {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
}

/** The text is understood, and refused in words of the Agent Runner document, which follow upon the key. */
export class Refused {
  readonly words: string;
  constructor(words: string) {
    this.words = words;
  }
}

/** What a row of the table says; the names of its variables follow from its path. */
export interface Row<T> {
  readonly path: string;
  readonly fallback: T;
  readonly about: string;
  /** The Agent Runner document has it: it goes by the document's variable, `AGENT_RUNNER_…`, too. */
  readonly documented?: true;
  /** Where the variable is not called like the path. */
  readonly variable?: string;
  /** Names under which other programs know the same thing. */
  readonly also?: readonly string[];
  readonly fallbackAbout?: string;
}

export function makeKey<T>(row: Row<T>, read: Key<T>["read"]): Key<T> {
  const { path, fallback, about, fallbackAbout } = row;
  const name = row.variable ?? path.toUpperCase().replaceAll(".", "_");
  const documented = row.documented === true ? [`AGENT_RUNNER_${name}`] : [];
  const variables = [`RUNNEL_${name}`, ...documented, ...(row.also ?? [])] as const;
  return { path, variables, fallback, read, about, ...(fallbackAbout !== undefined && { fallbackAbout }) };
}
