// The Models API: the known models of the configured providers.

import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import type { Visit } from "../in-process/visit.ts";
import { sendJson } from "../rest/respond.ts";
import { ApiError } from "./errors.ts";

/** `GET /v1/models`. */
export async function listModels(visit: Visit): Promise<void> {
  const data = await readModels(visit);
  sendJson(visit.response, 200, JSON.stringify({ object: "list", data }));
}

/** `GET /v1/models/{id}`. */
export async function getModel(visit: Visit, id: string): Promise<void> {
  const model = (await readModels(visit)).find((each) => each.id === id);
  if (model === undefined) {
    const message = `The model '${id}' does not exist or is not configured.`;
    throw new ApiError(404, { message, param: "model", code: "model_not_found" });
  }
  sendJson(visit.response, 200, JSON.stringify(model));
}

async function readModels({ calls }: Visit) {
  const { models } = await calls.call(ProviderService.method.listModels, {});
  return models.map(({ name: id, provider }) => ({ id, object: "model", created: 0, owned_by: provider }));
}
