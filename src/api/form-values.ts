// The values that a person gives for the form of an approval.

import { readSchema } from "../agent/tools/schema.ts";
import { Fault } from "../platform/base/fault.ts";
import { parseObject } from "../platform/base/json/parse-object.ts";

/** The time limit for the compilation of a schema. A form has a few plain fields. */
const compileTimeMs = 200;

/** Throws Fault INVALID_ARGUMENT for values that do not match the form. Without values it checks an empty object. */
export function checkValues(form: string | null, values: string): void {
  if (form === null) {
    if (values !== "") {
      throw invalid("the approval has no form");
    }
    return;
  }
  const given = parseObject(values || "{}");
  if (given === undefined) {
    throw invalid("they must be a JSON object that matches the form of the approval");
  }
  const schema = readSchema(form, compileTimeMs);
  const problem = "problem" in schema ? undefined : schema.findProblem(given);
  if (problem !== undefined) {
    throw invalid(problem.replace(/^invalid arguments: (the arguments )?/, ""));
  }
}

function invalid(description: string): Fault {
  return new Fault("INVALID_ARGUMENT", `invalid values: ${description}`, {
    violations: [{ field: "values", description }],
  });
}
