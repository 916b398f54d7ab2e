// A failure that a command itself can explain: the problem, and how to fix it.

/** Options of a `CommandError`. */
export interface CommandErrorOptions {
  readonly fix?: string;
  /** A name for programs. Exit code 2 means a usage error. */
  readonly reason: string;
  readonly exitCode?: 1 | 2;
  readonly cause?: unknown;
}

/** A failure with a message and a fix for the operator. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly fix: string | undefined;
  readonly reason: string;
  readonly exitCode: 1 | 2;

  constructor(what: string, { fix, reason, exitCode = 1, cause }: CommandErrorOptions) {
    super(what, { cause });
    this.fix = fix;
    this.reason = reason;
    this.exitCode = exitCode;
  }
}
