// The Models API: the known models of the configured providers. Every name that the service can route has an entry of its own.

import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import type { Visit } from "../in-process/visit.ts";
import { sendJson } from "../rest/respond.ts";
import { invalid } from "./errors.ts";

const providers = ProviderService.method;

/** `GET /v1/models`. */
export async function listModels({ calls, query, response }: Visit): Promise<void> {
  const { models } = await calls.call(providers.listModels, {});
  const limit = Number(query.get("limit") ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw invalid("limit", `must be 1 to ${limitMax}`);
  }
  const names = models.map(({ name }) => name);
  for (const name of ["after_id", "before_id"]) {
    if (query.has(name) && !names.includes(query.get(name) ?? "")) {
      throw invalid(name, "must be the id of a model of this list");
    }
  }
  const before = query.get("before_id");
  const end = before === null ? names.length : Math.max(0, names.indexOf(before));
  const start = before === null ? names.indexOf(query.get("after_id") ?? "") + 1 : Math.max(0, end - limit);
  const page = names.slice(start, Math.min(end, start + limit));
  const has_more = before === null ? start + limit < names.length : start > 0;
  const data = page.map(modelObject);
  sendJson(response, 200, JSON.stringify({ data, has_more, first_id: page[0] ?? null, last_id: page.at(-1) ?? null }));
}

const limitDefault = 20;
const limitMax = 1_000;

/** `GET /v1/models/{id}`. */
export async function getModel({ calls, response }: Visit, id: string): Promise<void> {
  // Fails for a name that the service cannot route.
  await calls.call(providers.getModel, { name: id });
  sendJson(response, 200, JSON.stringify(modelObject(id)));
}

/** Models have no time of creation here. */
function modelObject(id: string): object {
  return { type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" };
}
