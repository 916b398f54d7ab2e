// A failure that a command itself can explain: what is wrong, and what to do about it.

export interface CommandErrorOptions {
  readonly fix?: string;
  /** What programs tell it by; 2 as exit code says that the words were wrong. */
  readonly reason: string;
  readonly exitCode?: 1 | 2;
  readonly cause?: unknown;
}

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
