// The commands of an inbox and what becomes of them: the words of the protocol (Command Syntax Reference), as data.

/** One block of an inbox. `PARSE_ERROR` is one that is no command: it is told of and never executed. */
export type Command =
  | { readonly type: "CREATE_FILE"; readonly path: string; readonly content: string }
  | {
      readonly type: "EDIT_FILE";
      readonly path: string;
      /** 1-based, inclusive, as written: zero, negative and reversed ranges are for the executor to refuse. */
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
      /** What the reader should know beside it; shown as the result's output. */
      readonly detail?: string;
    };

export type CommandType = Command["type"];
export type CommandOf<Type extends CommandType> = Extract<Command, { readonly type: Type }>;

export interface CommandResult {
  readonly type: CommandType;
  readonly success: boolean;
  readonly summary: string;
  /** `""` when there is nothing to show. */
  readonly output: string;
}

/**
 * What a command found before it changed anything, kept before it begins: SHA-256 of the file before and after, in hexadecimal,
 * or nothing where that is no matter. With it a command whose end nobody knows is not done twice.
 */
export interface Trace {
  readonly before?: string;
  readonly after?: string;
}

/** Most commands of one inbox, errors included. */
export const commandsMax = 1_000;
/** An inbox that is larger is refused as a whole. */
export const inboxBytesMax = 4_194_304;
