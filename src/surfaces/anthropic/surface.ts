// The surface of Anthropic's API: its routes, and how its failures are answered. Programs send `anthropic-version`, by which this
// surface and OpenAI's share `/v1/models`.

import type { IncomingHttpHeaders } from "node:http";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import {
  createRoutedSurface,
  type PrintedError,
  type Route,
  route,
  type SurfaceOptions,
} from "../in-process/routed-surface.ts";
import type { RestRequest, RestResponse } from "../rest/respond.ts";
import { ApiError, isDefect, toApiError } from "./errors.ts";
import { countTokens, createMessage, requestIdHeader, requestIdOf } from "./messages.ts";
import { getModel, listModels } from "./models.ts";

const { countTokens: countMethod, listModels: modelsMethod } = ProviderService.method;

const routes: readonly Route[] = [
  route("POST", "/v1/messages", SessionService.method.sendMessage, createMessage),
  route("POST", "/v1/messages/count_tokens", countMethod, countTokens),
  route("GET", "/v1/models", modelsMethod, listModels),
  route("GET", "/v1/models/{id}", modelsMethod, getModel),
];

/** A program with a wrong base URL leaves `/v1` out, or has it twice: the answer shows it the routes. */
const ownPaths = /^(?:\/v1)*\/messages(?:\/|$)/;
/** Other APIs have these paths too. */
const sharedPaths = /^\/v1\/(?:models|complete|files|skills|organizations|agents|environments|vaults)(?:\/|$)/;

/** Returns the surface of Anthropic's API. */
export function createAnthropicSurface(options: SurfaceOptions) {
  const owns = (path: string, headers: IncomingHttpHeaders): boolean =>
    ownPaths.test(path) || (headers["anthropic-version"] !== undefined && sharedPaths.test(path));
  const api = { routes, owns, unknownRoute, isDefect, printError, setHeaders, keyHeader: "x-api-key" };
  return createRoutedSurface(api, options);
}

function unknownRoute(asked: string, there: string): ApiError {
  return new ApiError(404, `there is no ${asked}; this service has ${there}`);
}

/** Clients show the id of a request under a name of their own. */
function setHeaders(response: RestResponse): void {
  const id = response.getHeader("x-request-id");
  if (typeof id === "string") {
    response.setHeader(requestIdHeader, id);
  }
}

function printError(error: unknown, _request: RestRequest, response: RestResponse): PrintedError {
  const failure = toApiError(error);
  const { status, headers } = failure;
  return { status, json: JSON.stringify(failure.body(requestIdOf(response))), headers };
}
