// Checks every request against the rules that stand beside its fields in the contract.

import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import type { Interceptor } from "@connectrpc/connect";
import { Fault, type FieldViolation } from "../base/fault.ts";

export function createValidationInterceptor(): Interceptor {
  const validator = createValidator();
  return (next) => async (request) => {
    // Our streams run down only: every call has one request message, which connect hands over before the handler runs.
    if (!request.stream) {
      check(validator, request.method.input, request.message);
      return await next(request);
    }
    const { input } = request.method;
    return await next({ ...request, message: checkEach(validator, input, request.message) });
  };
}

type Validator = ReturnType<typeof createValidator>;
type Schema = Parameters<Validator["validate"]>[0];
type Checked = Parameters<Validator["validate"]>[1];

async function* checkEach<T extends Checked>(
  validator: Validator,
  schema: Schema,
  messages: AsyncIterable<T>,
): AsyncGenerator<T> {
  for await (const message of messages) {
    check(validator, schema, message);
    yield message;
  }
}

function check(validator: Validator, schema: Schema, message: Checked): void {
  const result = validator.validate(schema, message);
  if (result.kind === "valid") {
    return;
  }
  if (result.kind === "error") {
    throw result.error;
  }
  // What a whole message lacks is told before what is wrong with its fields: the order of the documented checks.
  const ordered = result.violations.toSorted((a, b) => Number(a.field.length > 0) - Number(b.field.length > 0));
  const violations = ordered.map(describe);
  const first = ordered[0];
  throw new Fault("INVALID_ARGUMENT", first === undefined ? "invalid request" : sentence(first), { violations });
}

/** A rule over a whole message is named after the field that it is about. */
function fieldName(violation: Violation): string {
  return violation.field.length > 0 ? pathToString(violation.field) : violation.ruleId;
}

function describe(violation: Violation): FieldViolation {
  return { field: fieldName(violation), description: violation.message };
}

/** Rules of our own are whole sentences; the standard ones go on from the field's name. */
function sentence(violation: Violation): string {
  const isOwn = !/^(string|int32|int64|repeated|required)\b/.test(violation.ruleId);
  return isOwn ? violation.message : `invalid ${fieldName(violation)}: ${violation.message}`;
}
