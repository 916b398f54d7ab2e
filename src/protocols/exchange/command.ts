// The commands of an inbox and their results: the terms of the protocol (Command Syntax Reference), as data.

/** One block of an inbox. `PARSE_ERROR` is an invalid block: it is reported and never executed. */
export type Command =
  | { readonly type: "CREATE_FILE"; readonly path: string; readonly content: string }
  | {
      readonly type: "EDIT_FILE";
      readonly path: string;
      /** 1-based, inclusive, as written: the executor refuses zero, negative and reversed ranges. */
      readonly startLine: number;
      readonly endLine: number;
      readonly content: string;
    }
  | { readonly type: "DELETE_FILE"; readonly path: string }
  | { readonly type: "READ_FILE"; readonly path: string }
  | { readonly type: "RUN_COMMAND"; readonly command: string }
  | { readonly type: "MESSAGE"; readonly text: string }
  | { readonly type: "DONE"; readonly message: string }
  | {
      readonly type: "PARSE_ERROR";
      readonly message: string;
      /** Further information for the reader, shown as the result's output. */
      readonly detail?: string;
    };

/** The type of a command. */
export type CommandType = Command["type"];
/** The command of one type. */
export type CommandOf<Type extends CommandType> = Extract<Command, { readonly type: Type }>;

/** The result of a command. */
export interface CommandResult {
  readonly type: CommandType;
  readonly success: boolean;
  readonly summary: string;
  /** `""` when a command has no output. */
  readonly output: string;
}

/**
 * The state of a file before a command changes it, stored before the command begins: SHA-256 of the file before and after, in
 * hexadecimal. It is empty for commands that do not need it. It prevents a command with an unknown outcome from being done
 * twice.
 */
export interface Trace {
  readonly before?: string;
  readonly after?: string;
  /** The output of a successful edit, which the changed file no longer shows. */
  readonly note?: string;
}

/** The maximum number of commands in one inbox, errors included. */
export const commandsMax = 1_000;
/** The maximum size of an inbox. A larger one is refused as a whole. */
export const inboxBytesMax = 4_194_304;
