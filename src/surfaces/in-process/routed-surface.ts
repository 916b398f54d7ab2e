// A surface that imitates an API with routes of its own. It calls the methods of the contract in process, as every surface does,
// and knows nothing of the service behind them. The API says what its errors look like.

import type { IncomingHttpHeaders } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import type { Clock } from "../../platform/base/clock.ts";
import type { Fault } from "../../platform/base/fault.ts";
import type { LocalMethods } from "../../platform/base/local-methods.ts";
import { type BodyReader, jsonReader, noReader } from "../http/body-weight.ts";
import { signalOf } from "../rest/disconnect.ts";
import { isReason } from "../rest/failure.ts";
import type { RestCall } from "../rest/gateway.ts";
import { closeAfter, isGone, type RestRequest, type RestResponse, sendJson } from "../rest/respond.ts";
import { decodeSegment, splitRequestTarget } from "../rest/route.ts";
import { Calls } from "./calls.ts";
import { endSlowJson } from "./slow-json.ts";
import type { Visit } from "./visit.ts";

/** What such a surface works with. */
export interface SurfaceOptions {
  /** All methods of the core. */
  readonly methods: LocalMethods;
  readonly clock: Clock;
  /** Reports every unexpected error. */
  readonly reportError: (error: unknown) => void;
}

/** A route of an API. */
export interface Route {
  readonly httpMethod: string;
  /** `{id}` and `{item_id}` are segments; `{name}` may have slashes. */
  readonly path: string;
  readonly pattern: RegExp;
  readonly reader: BodyReader;
  /** The method of the contract whose name access logs and metrics show. */
  readonly method: DescMethod;
  /** `item` is the second id of the path. */
  readonly answer: (visit: Visit, id: string, item: string) => Promise<void>;
}

/** Returns a route. A POST has a body, unless it cancels something. */
export function route(httpMethod: string, path: string, method: DescMethod, answer: Route["answer"]): Route {
  const reader = httpMethod === "POST" && !path.endsWith("/cancel") ? jsonReader : noReader;
  const pattern = path.replace(/\{(?:id|item_id)\}/g, "([^/]+)").replace("{name}", "(.+)");
  return { httpMethod, path, pattern: new RegExp(`^${pattern}$`), reader, method, answer };
}

/** An error as an answer. */
export interface PrintedError {
  readonly status: number;
  readonly json: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An API. */
export interface Api {
  readonly routes: readonly Route[];
  /** Returns whether a request is of this API. */
  readonly owns: (path: string, headers: IncomingHttpHeaders) => boolean;
  /** Returns the error of a path without a route. `there` lists the routes. */
  readonly unknownRoute: (asked: string, there: string) => Error;
  /** Returns whether the service must report an error. */
  readonly isDefect: (error: unknown) => boolean;
  readonly printError: (error: unknown, request: RestRequest, response: RestResponse) => PrintedError;
  /** The name of the header that may have the API key in place of a bearer token. */
  readonly keyHeader?: string;
  /** Sets headers that every answer has. */
  readonly setHeaders?: (response: RestResponse) => void;
}

/** Returns the surface of an API. */
export function createRoutedSurface(api: Api, options: SurfaceOptions) {
  const { owns, keyHeader, setHeaders = () => undefined } = api;
  return {
    owns,
    describe: (requestTarget: string, httpMethod: string) => {
      const found = findRoute(api, splitRequestTarget(requestTarget).path, httpMethod);
      const reader = found?.route.reader ?? noReader;
      return { method: found?.route.method, isLong: true, reader, ...(keyHeader !== undefined && { keyHeader }) };
    },
    handle: async (request: RestRequest, response: RestResponse, call: RestCall = {}): Promise<void> => {
      response.on("error", () => undefined);
      setHeaders(response);
      const signal = signalOf(response);
      try {
        await answer(api, request, response, { ...call, ...options, signal });
      } catch (error) {
        if (api.isDefect(error) && !signal.aborted) {
          options.reportError(error);
        }
        sendError(api, request, response, error);
      }
    },
    refuse: (request: RestRequest, response: RestResponse, fault: Fault): void => {
      response.on("error", () => undefined);
      setHeaders(response);
      sendError(api, request, response, fault);
    },
  };
}

interface Parts extends SurfaceOptions, RestCall {
  readonly signal: AbortSignal;
}

async function answer(api: Api, request: RestRequest, response: RestResponse, parts: Parts): Promise<void> {
  const { path, query } = splitRequestTarget(request.url ?? "");
  const found = findRoute(api, path, request.method ?? "");
  if (found === undefined) {
    const there = api.routes.map((each) => `${each.httpMethod} ${each.path}`).join(", ");
    throw api.unknownRoute(`${request.method} ${path}`, there);
  }
  const { methods, signal, clock, body, sink, contextValues = createContextValues() } = parts;
  const { headers } = request;
  const calls = new Calls(methods, { headers, signal, contextValues });
  const visit = { request, response, sink, calls, query: new URLSearchParams(query), body, clock };
  const [id = "", item = ""] = found.ids;
  await found.route.answer(visit, id, item);
}

interface FoundRoute {
  readonly route: Route;
  readonly ids: readonly string[];
}

function findRoute({ routes }: Api, path: string, httpMethod: string): FoundRoute | undefined {
  for (const each of routes) {
    const match = each.httpMethod === httpMethod ? each.pattern.exec(path) : null;
    if (match !== null) {
      return { route: each, ids: match.slice(1).map(decodeSegment) };
    }
  }
  return undefined;
}

function sendError(api: Api, request: RestRequest, response: RestResponse, error: unknown): void {
  if (isGone(response)) {
    return;
  }
  if (response.headersSent) {
    endSlowJson(response, api.printError(error, request, response).json);
    return;
  }
  if (isReason(error, "BODY_TOO_LARGE", "OVERLOADED")) {
    closeAfter(response);
  }
  const { status, json, headers } = api.printError(error, request, response);
  sendJson(response, status, json, headers);
}
