// Every way into the service, for tests that try the same request at all of them.

import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { services } from "../../src/app/protocols.ts";
import { accessOf } from "../../src/platform/base/access.ts";
import { compileBindings } from "../../src/surfaces/rest/rule.ts";

export interface Route {
  readonly httpMethod: string;
  /** With a value in place of each variable. */
  readonly path: string;
  /** True for a route that needs no credentials. */
  readonly isPublic: boolean;
  /** True for a route that reads a body. */
  readonly takesBody: boolean;
  /** The media type of its requests. */
  readonly contentType: string;
}

const restRoutes: readonly Route[] = services.flatMap(({ methods }) =>
  methods.flatMap((method) =>
    compileBindings(method).map(({ httpMethod, template, body }) => ({
      httpMethod,
      path: template.text.replaceAll(/\{[^}]+\}/g, "x"),
      isPublic: accessOf(method) === Access.PUBLIC,
      takesBody: body.kind !== "none",
      contentType: "application/json",
    })),
  ),
);

const rpcRoutes: readonly Route[] = services.flatMap((service) =>
  service.methods.map((method) => ({
    httpMethod: "POST",
    path: `/${service.typeName}/${method.name}`,
    isPublic: accessOf(method) === Access.PUBLIC,
    takesBody: true,
    contentType: method.methodKind === "unary" ? "application/json" : "application/connect+json",
  })),
);

const doors: readonly (readonly [httpMethod: string, path: string, takesBody: boolean])[] = [
  ["POST", "/v1/responses", true],
  ["GET", "/v1/responses/x", false],
  ["DELETE", "/v1/responses/x", false],
  ["POST", "/v1/responses/x/cancel", false],
  ["GET", "/v1/responses/x/input_items", false],
  ["POST", "/v1/conversations", true],
  ["GET", "/v1/conversations/x", false],
  ["DELETE", "/v1/conversations/x", false],
  ["GET", "/v1/conversations/x/items", false],
  ["POST", "/v1/chat/completions", true],
  ["GET", "/v1/models", false],
  ["GET", "/v1/models/x", false],
  ["GET", "/v1/ag-ui/info", false],
  ["POST", "/v1/ag-ui/x", true],
  ["POST", "/v1/ag-ui/x/connect", true],
  ["POST", "/v1/ag-ui/agent/x/stop/x", false],
];

/** Every route of REST, every RPC and every route of the other surfaces. */
export const routes: readonly Route[] = [
  ...restRoutes,
  ...rpcRoutes,
  ...doors.map(([httpMethod, path, takesBody]) => ({
    httpMethod,
    path,
    isPublic: false,
    takesBody,
    contentType: "application/json",
  })),
];
