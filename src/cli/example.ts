// The example at the end of a command's help.

/** Returns the help text of an example, for `addHelpText("after", …)`. `test/cli/examples.test.ts` parses each example. */
export function example(line: string): string {
  return `\nExample:\n  ${line}`;
}
