// What a machine may lack is left out there, and that is told; where the variable says that all has to run, it fails.

export function leaveOut(variable: `TEST_${"JAIL" | "PHP" | "GO" | "PYTHON"}`, told: string): false {
  if (process.env[variable] === "required") {
    throw new Error(`${variable} says that none may be left out: ${told}`);
  }
  process.stderr.write(`${told}\n`);
  return false;
}
