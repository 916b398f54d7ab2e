// Decides which requests with a response format reach their provider.
//
// F1  The format is left out when the catalogue knows that the model does not support it.
// F2  An unknown model gets the format: many servers support it, and the client wants it.
// F3  When the provider refuses a request with a format before any output, the request is sent once more without it. Servers
//     refuse unknown fields, and providers refuse schemas beyond their own limits: neither may end a run that text would
//     satisfy.

import { takesSchema } from "./catalogue.ts";
import type { Model, ModelPart, ModelRequest } from "./model.ts";

/** Returns the same model with rules F1 to F3. */
export function withResponseFormat(model: Model): Model {
  const { count } = model;
  return {
    ...model,
    stream: (request, signal) => stream(model, request, signal),
    count: count && ((request, signal) => count(mayTake(model, request) ? request : withoutFormat(request), signal)),
  };
}

async function* stream(model: Model, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const plain = withoutFormat(request);
  if (request.responseFormat === undefined || !mayTake(model, request)) {
    yield* model.stream(plain, signal);
    return;
  }
  let isFirst = true;
  for await (const part of model.stream(request, signal)) {
    if (isFirst && part.type === "failure" && refusalCodes.has(part.code)) {
      yield* model.stream(plain, signal);
      return;
    }
    isFirst = false;
    yield part;
  }
}

function withoutFormat({ responseFormat: _, ...plain }: ModelRequest): ModelRequest {
  return plain;
}

/** Bad request, and the code of servers that validate bodies against their own schema. */
const refusalCodes: ReadonlySet<string> = new Set(["400", "422"]);

function mayTake(model: Model, { responseFormat, tools }: ModelRequest): boolean {
  // Older models accept a format of any JSON object, but no schema.
  const isSchema = responseFormat?.type === "json-schema";
  const alone = takesSchema(model, { hasTools: false });
  return alone === false ? !isSchema : takesSchema(model, { hasTools: tools.length > 0 }) !== false;
}
