// The exit codes of the program. Scripts depend on them: a number keeps its meaning.

/** The exit codes. */
export const exitCodes = {
  done: 0,
  failed: 1,
  invalidUsage: 2,
  /** The run, job or exchange that was followed failed or was cancelled. 1 means that the command itself failed. */
  followedFailed: 3,
  /** The code that a shell reports for an interrupted program. */
  interrupted: 130,
} as const;

/** The exit codes, as `--help` shows them. */
export const exitCodesHelp = [
  "Exit codes:",
  "  0    done",
  "  1    failed",
  "  2    invalid usage, or a confirmation is missing",
  "  3    the run, job or exchange that was followed failed, or was cancelled",
  "  130  interrupted",
].join("\n");
