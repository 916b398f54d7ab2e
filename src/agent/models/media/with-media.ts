// Adds images and files to any model: media that the model does not read become placeholders.
//
// I1  A client's URL is loaded only through the guarded egress, or by a hosted provider from its own network.
// I2  An image or file that the provider refuses does not fail the request: the request is sent once more with placeholders. So
//     a server with unknown models needs no setting, and a conversation outlives an expired URL.

import type { Model, ModelPart, ModelRequest } from "../model.ts";
import { fitRequest, hasMedia, withoutMedia } from "./fit.ts";
import { createLoad, type LoadDeps } from "./load.ts";

/** Options of `withMedia`. */
export interface MediaOptions extends LoadDeps {
  readonly takesUrls: boolean;
}

/** Returns the same model, which now accepts images and files of every kind. */
export function withMedia(model: Model, options: MediaOptions): Model {
  const { count } = model;
  return {
    ...model,
    stream: (request, signal) =>
      hasMedia(request) ? streamWithMedia(model, options, request, signal) : model.stream(request, signal),
    count:
      count &&
      (async (request, signal) => {
        const fitted = hasMedia(request) ? await prepare(model, options, request, signal) : request;
        return fitted && (await count(fitted, signal));
      }),
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

/** Returns the fitted request, or undefined when the signal was aborted. */
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

/** The codes of servers that refuse the content of a request. */
const refusals: ReadonlySet<string> = new Set(["400", "404", "413", "415", "422"]);

/**
 * Returns whether the failure may be about the media. Some servers run by operators answer images with 500 when their model
 * reads none. From a hosted provider, 500 is an outage.
 */
function isRefusal(part: ModelPart, { provider }: Model): boolean {
  return part.type === "failure" && (refusals.has(part.code) || (provider === "compatible" && part.code === "500"));
}
