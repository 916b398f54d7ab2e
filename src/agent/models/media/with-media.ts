// A model that takes images and files of every kind: what it does not read is replaced by a placeholder.
//
// I1  Only the guarded way out loads what a caller's URL names, or a hosted provider from its own network.
// I2  An image or file that the provider refuses makes no request fail: it is asked once more with placeholders. So a server whose
//     unknown models needs no setting, and a conversation outlives a URL that has expired.

import type { Model, ModelPart, ModelRequest } from "../model.ts";
import { fitRequest, hasMedia, withoutMedia } from "./fit.ts";
import { createLoad, type LoadDeps } from "./load.ts";

export interface MediaOptions extends LoadDeps {
  readonly takesUrls: boolean;
}

export function withMedia(model: Model, options: MediaOptions): Model {
  return {
    ...model,
    stream: (request, signal) =>
      hasMedia(request) ? streamWithMedia(model, options, request, signal) : model.stream(request, signal),
  };
}

async function* streamWithMedia(
  model: Model,
  options: MediaOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const fitted = await prepare(model, options, request, signal);
  if (fitted === undefined) {
    return;
  }
  let isFirst = true;
  for await (const part of model.stream(fitted, signal)) {
    if (isFirst && isRefusal(part, model) && hasMedia(fitted)) {
      yield* model.stream(withoutMedia(fitted, "its provider refused a request with it"), signal);
      return;
    }
    isFirst = false;
    yield part;
  }
}

/** Undefined when the signal was aborted. */
async function prepare(
  model: Model,
  { takesUrls, ...deps }: MediaOptions,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelRequest | undefined> {
  try {
    return await fitRequest(request, { model, takesUrls, load: createLoad(deps, signal) });
  } catch (error) {
    if (signal.aborted) {
      return undefined;
    }
    throw error;
  }
}

/** What servers answer to content that they do not take. */
const refusals: ReadonlySet<string> = new Set(["400", "404", "413", "415", "422"]);

/** Some servers that operators run say 500 to images when their model reads none. From a hosted provider it is an outage. */
function isRefusal(part: ModelPart, { provider }: Model): boolean {
  return part.type === "failure" && (refusals.has(part.code) || (provider === "compatible" && part.code === "500"));
}
