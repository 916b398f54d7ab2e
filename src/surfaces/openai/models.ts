// The Models API: the models that the service routes.

import { type KnownModel, ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import type { Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import { sendJson } from "../rest/respond.ts";
import { ApiError } from "./errors.ts";

/** `GET /v1/models`. */
export async function listModels(visit: Visit): Promise<void> {
  const data = await readModels(visit);
  sendJson(visit.response, 200, JSON.stringify({ object: "list", data }));
}

/** `GET /v1/models/{id}`: of any name that the service routes. */
export async function getModel({ calls, response }: Visit, id: string): Promise<void> {
  const { model } = await calls.call(ProviderService.method.getModel, { name: id }).catch((error: unknown) => {
    if (!isReason(error, "MODEL_UNSUPPORTED", "INVALID_ARGUMENT")) {
      throw error;
    }
    const message = `The model '${id}' does not exist or is not configured.`;
    throw new ApiError(404, { message, param: "model", code: "model_not_found" });
  });
  sendJson(response, 200, JSON.stringify(modelObject(model ?? { name: id, provider: "" })));
}

async function readModels({ calls }: Visit) {
  const { models } = await calls.call(ProviderService.method.listModels, {});
  return models.map(modelObject);
}

function modelObject({ name: id, provider }: Pick<KnownModel, "name" | "provider">): object {
  return { id, object: "model", created: 0, owned_by: provider };
}
