// Which requests for a response format reach their provider.
//
// F1  A format is left out where the catalogue knows that the model does not take it.
// F2  A model that the catalogue does not have is asked: many servers take a format, and its caller wants it.
// F3  A provider that refuses a request with a format gets it once more without, before anything was said. Servers refuse fields that
//     they do not know, and providers refuse schemas beyond their own limits: neither may end a run that text would do for.

import { takesSchema } from "./catalogue.ts";
import type { Model, ModelPart, ModelRequest } from "./model.ts";

export function withResponseFormat(model: Model): Model {
  return { ...model, stream: (request, signal) => stream(model, request, signal) };
}

async function* stream(model: Model, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { responseFormat, ...plain } = request;
  if (responseFormat === undefined || !mayTake(model, request)) {
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

/** Bad request, and what servers that check bodies against a schema of their own answer. */
const refusalCodes: ReadonlySet<string> = new Set(["400", "422"]);

function mayTake(model: Model, { responseFormat, tools }: ModelRequest): boolean {
  // Older models take any JSON object, but no schema.
  const isSchema = responseFormat?.type === "json-schema";
  const alone = takesSchema(model, { hasTools: false });
  return alone === false ? !isSchema : takesSchema(model, { hasTools: tools.length > 0 }) !== false;
}
