// The names under which a caller of another API knows the fields of the contract.

import type { Failure } from "../../platform/base/error-form.ts";

/** The caller's names, each for the fields of the contract that begin with `prefix`, without `agent.`. The first that fits counts. */
export type FieldNames = readonly (readonly [prefix: string, name: string])[];

/** Returns the message of a failure, and its first wrong field where it has one, both with the caller's name of the field. */
export function renameField({ message, violations: [wrong] }: Failure, names: FieldNames) {
  if (wrong === undefined) {
    return { message, field: undefined };
  }
  const field = nameOf(wrong.field, names);
  return { message: message.replace(wrong.field, () => field), field };
}

function nameOf(field: string, names: FieldNames): string {
  const own = field.replace(/^agent\./, "");
  return names.find(([prefix]) => own.startsWith(prefix))?.[1] ?? own;
}
