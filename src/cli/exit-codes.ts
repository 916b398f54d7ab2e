// What the program ends with. Scripts build on these: a number keeps its meaning.

export const exitCodes = {
  done: 0,
  failed: 1,
  wrongWords: 2,
  /** 1 is for commands that could not do their work. */
  followedFailed: 3,
  /** What a shell reports of a program that was interrupted. */
  interrupted: 130,
} as const;

export const exitCodesHelp = [
  "Exit codes:",
  "  0    done",
  "  1    failed",
  "  2    the words could not be understood, or a confirmation is missing",
  "  3    the run, job or exchange that was followed failed, or was cancelled",
  "  130  interrupted",
].join("\n");
