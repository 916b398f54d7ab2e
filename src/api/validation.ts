// Validates every request against the rules of its fields in the contract, before the handler runs. Where the contract says so,
// the handler validates after its first lookups; a handler that forgets to do so answers INTERNAL.

import { setImmediate } from "node:timers/promises";
import { create, type DescMessage, type DescService, getOption, type MessageShape } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import type { Violation } from "@bufbuild/protovalidate";
import { type ContextValues, createContextKey, type Interceptor, type UnaryRequest } from "@connectrpc/connect";
import { Validation, validation as validationOption } from "#gen/runnel/options/v1/options_pb.js";
import { Fault, type FieldViolation } from "../platform/base/fault.ts";
import { perMethod } from "../platform/base/per-method.ts";
import { restCallNotes } from "../platform/base/rest-call.ts";
import { validator } from "../platform/base/validator.ts";

/** Throws Fault INVALID_ARGUMENT when a message breaks the rules of its schema. */
export function assertValid<S extends DescMessage>(schema: S, message: MessageShape<S>): void {
  const fault = findFault(schema, message);
  if (fault !== undefined) {
    throw fault;
  }
}

/**
 * Compiles the rules of all requests of the services, one in each turn of the event loop. Otherwise the first request does it:
 * the rules of CreateSession take 90 ms.
 */
export async function compileRules(services: readonly DescService[]): Promise<void> {
  for (const { input } of services.flatMap(({ methods }) => methods)) {
    await setImmediate();
    validator.validate(input, create(input));
  }
}

/** Returns the interceptor that validates requests, or leaves that to the handler where the contract says so. */
export function createValidationInterceptor(): Interceptor {
  return (next) => async (request) => {
    // All streams of the contract are server streams: a call has one request message, which connect passes on before the
    // handler runs.
    if (!request.stream) {
      if (leavesToHandler(request.method)) {
        return await leaveToHandler(request, next);
      }
      assertValid(request.method.input, request.message);
      return await next(request);
    }
    const { input } = request.method;
    return await next({ ...request, message: checkEach(input, request.message) });
  };
}

const leavesToHandler = perMethod((method) => getOption(method, validationOption) === Validation.HANDLER);

/**
 * Returns the fault of the request for a handler that validates itself, or undefined when the request is valid.
 * @throws Fault INTERNAL when the contract does not leave validation to the handler.
 */
export function findInputFault(values: ContextValues): Fault | undefined {
  const find = values.get(inputCheckKey);
  if (find === undefined) {
    throw new Fault("INTERNAL", "the method does not say that its handler validates");
  }
  return find();
}

const inputCheckKey = createContextKey<(() => Fault | undefined) | undefined>(undefined, {
  description: "input check",
});

async function leaveToHandler<Response>(
  request: UnaryRequest,
  next: (request: UnaryRequest) => Promise<Response>,
): Promise<Response> {
  const { contextValues, method, message } = request;
  let isChecked = false;
  contextValues.set(inputCheckKey, () => {
    isChecked = true;
    return restCallNotes(contextValues)?.inputFault ?? findFault(method.input, message);
  });
  const response = await next(request);
  if (!isChecked) {
    throw new Fault("INTERNAL", `${method.name} did not validate its request`);
  }
  return response;
}

async function* checkEach<S extends DescMessage>(
  schema: S,
  messages: AsyncIterable<MessageShape<S>>,
): AsyncGenerator<MessageShape<S>> {
  for await (const message of messages) {
    assertValid(schema, message);
    yield message;
  }
}

function findFault<S extends DescMessage>(schema: S, message: MessageShape<S>): Fault | undefined {
  const result = validator.validate(schema, message);
  if (result.kind === "valid") {
    return undefined;
  }
  if (result.kind === "error") {
    throw result.error;
  }
  // Violations of a whole message come before violations of its fields: the order of the documented checks.
  const ordered = result.violations.toSorted((a, b) => Number(a.field.length > 0) - Number(b.field.length > 0));
  const violations = ordered.map(describe);
  const first = ordered[0];
  return new Fault("INVALID_ARGUMENT", first === undefined ? "invalid request" : sentence(first), { violations });
}

/** Returns the field of a violation. A rule over a whole message has the name of the field that it is about. */
function fieldName(violation: Violation): string {
  return violation.field.length > 0 ? pathToString(violation.field) : violation.ruleId;
}

function describe(violation: Violation): FieldViolation {
  return { field: fieldName(violation), description: violation.message };
}

/**
 * Returns a violation as a sentence. Messages of custom rules are whole sentences; those of standard rules follow the field's
 * name.
 */
function sentence(violation: Violation): string {
  const isOwn = !/^(string|bytes|int32|int64|double|enum|repeated|map|required|timestamp)\b/.test(violation.ruleId);
  return isOwn ? violation.message : `invalid ${fieldName(violation)}: ${violation.message}`;
}
