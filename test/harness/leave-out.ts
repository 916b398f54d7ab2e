// Leaves out tests on a machine that lacks something, and reports it. When the variable says that everything has to run, it
// fails instead.

export function leaveOut(variable: `TEST_${"JAIL" | "PHP"}`, told: string): false {
  if (process.env[variable] === "required") {
    throw new Error(`${variable} says that none may be left out: ${told}`);
  }
  process.stderr.write(`${told}\n`);
  return false;
}
