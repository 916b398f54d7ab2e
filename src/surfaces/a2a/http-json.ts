// A2A over HTTP+JSON: the paths of the official proto below a prefix, each with the tenant as its first segment or without.

import { type DescMethod, type Message, ScalarType } from "@bufbuild/protobuf";
import { A2AService } from "#gen/lf/a2a/v1/a2a_pb.js";
import { parseJson } from "../../platform/base/json/parse-object.ts";
import { isGone, sendBody } from "../rest/respond.ts";
import { decodeSegment } from "../rest/route.ts";
import { httpErrorOf, InvalidField, refusalOf } from "./errors.ts";
import { findHandler } from "./handlers.ts";
import { printMessage, readBody, readMessage, sendEvents, sendSlowly, type Visit, WrongMediaType } from "./request.ts";

const { method } = A2AService;

interface Route {
  readonly httpMethods: readonly string[];
  readonly pattern: RegExp;
  readonly method: DescMethod;
}

// A subscription is a GET in the proto, and a POST in the text of the specification and in all clients.
const routes: readonly Route[] = [
  route("POST", "/message:send", method.sendMessage),
  route("POST", "/message:stream", method.sendStreamingMessage),
  route("GET", "/tasks", method.listTasks),
  route("GET", "/tasks/{id}", method.getTask),
  route("POST", "/tasks/{id}:cancel", method.cancelTask),
  route("GET POST", "/tasks/{id}:subscribe", method.subscribeToTask),
  route("POST", "/tasks/{taskId}/pushNotificationConfigs", method.createTaskPushNotificationConfig),
  route("GET", "/tasks/{taskId}/pushNotificationConfigs", method.listTaskPushNotificationConfigs),
  route("GET", "/tasks/{taskId}/pushNotificationConfigs/{id}", method.getTaskPushNotificationConfig),
  route("DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}", method.deleteTaskPushNotificationConfig),
  route("GET", "/extendedAgentCard", method.getExtendedAgentCard),
];

/** A method, and the fields that the path has. */
export interface Target {
  readonly method: DescMethod;
  readonly fields: Readonly<Record<string, string>>;
}

/** Returns what a path below the prefix calls; undefined for an unknown one. */
export function findTarget(httpMethod: string, path: string): Target | undefined {
  for (const each of routes) {
    const match = each.httpMethods.includes(httpMethod) ? each.pattern.exec(path) : null;
    if (match !== null) {
      const fields = Object.entries(match.groups ?? {}).filter(([, value]) => value !== undefined);
      return {
        method: each.method,
        fields: Object.fromEntries(fields.map(([name, value]) => [name, decodeSegment(value)])),
      };
    }
  }
  return undefined;
}

/** Answers a request. */
export async function answerHttp(visit: Visit, target: Target, query: URLSearchParams): Promise<void> {
  const handler = findHandler(target.method);
  const { input, output } = target.method;
  const text = readBody(visit);
  const body = text.trim() === "" ? {} : parseJson(text);
  if (body === undefined || typeof body !== "object") {
    throw new InvalidField("body", "must be a JSON object");
  }
  const request = readMessage(input, { ...fieldsOf(target.method, query), ...body, ...target.fields });
  const print = (message: Message): string => printMessage(output, message);
  if (handler.isStream) {
    const error = (failure: unknown): string =>
      `event: error\ndata: ${JSON.stringify(httpErrorOf(refusalOf(failure)))}\n\n`;
    await sendEvents(visit, handler.call(visit.call, request), { event: print, error });
  } else {
    await sendSlowly(visit, typeOf(visit), async () => print(await handler.call(visit.call, request)));
  }
}

/** Sends the error of a request. */
export function sendHttpError(visit: Pick<Visit, "request" | "response">, error: unknown): void {
  const { response } = visit;
  const refusal = refusalOf(error);
  if (response.headersSent) {
    // A client would take an error after status 200 for a result.
    if (!response.writableEnded) {
      response.destroy();
    }
  } else if (!isGone(response)) {
    const status = error instanceof WrongMediaType ? 415 : refusal.httpStatus;
    const headers = { ...refusal.headers, "content-type": typeOf(visit) };
    sendBody(response, status, JSON.stringify(httpErrorOf(refusal, status)), headers);
  }
}

/** The media type of A2A, for clients that name it. */
function typeOf({ request }: Pick<Visit, "request">): string {
  return /\bapplication\/a2a\+json\b/i.test(request.headers.accept ?? "") ? "application/a2a+json" : "application/json";
}

function route(httpMethods: string, path: string, target: DescMethod): Route {
  const pattern = path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+?)");
  return {
    httpMethods: httpMethods.split(" "),
    pattern: new RegExp(`^(?:/(?<tenant>[^/]+))??${pattern}$`),
    method: target,
  };
}

const booleans = new Map([
  ["true", true],
  ["false", false],
]);

/** Returns the fields of a query. Texts are right for all scalars of ProtoJSON but booleans. */
function fieldsOf({ input }: DescMethod, query: URLSearchParams): Readonly<Record<string, unknown>> {
  const known = input.fields.flatMap(({ jsonName, scalar }): (readonly [string, unknown])[] => {
    const value = query.get(jsonName);
    return value === null ? [] : [[jsonName, scalar === ScalarType.BOOL ? (booleans.get(value) ?? value) : value]];
  });
  return Object.fromEntries(known);
}
