// Errors as components: one body for each profile, and one response for each profile and status.

import { STATUS_CODES } from "node:http";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Access, ErrorBody } from "#gen/runnel/options/v1/options_pb.js";
import { accessOf } from "../../platform/base/access.ts";
import type { ErrorForm } from "../../platform/base/error-form.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Reason } from "../../platform/base/reasons.ts";
import { profileOf } from "../rest/profile.ts";
import type { Binding } from "../rest/rule.ts";
import { reference, type Schema } from "./json-schema.ts";
import type { Schemas } from "./schema.ts";

type Body = Pick<ErrorForm, "errorBody" | "name" | "schema">;

/** What the errors of all services consist of. */
export interface ErrorSources {
  /** The reasons that error responses name. */
  readonly reasons: readonly Reason[];
  /** The error bodies of protocols. */
  readonly errorForms: readonly ErrorForm[];
}

/** Collects the error responses that operations refer to. */
export class ErrorResponses {
  readonly #components = new Map<string, object>();
  readonly #reasons: readonly Reason[];
  readonly #bodies: readonly Body[];

  /** Defines the error bodies before any message, so that they get their names first. */
  constructor(schemas: Schemas, services: readonly DescService[], { reasons, errorForms }: ErrorSources) {
    this.#reasons = reasons;
    this.#bodies = [...coreBodies, ...errorForms];
    for (const { name, schema } of new Set(
      services.flatMap(({ methods }) => methods.map((each) => this.#bodyOf(each))),
    )) {
      schemas.define(name, schema);
    }
  }

  /** Returns every response that an operation refers to, sorted by name. */
  list(): Record<string, object> {
    return Object.fromEntries([...this.#components].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns the error responses of a binding, by status, with `default` for every other status. */
  describe(binding: Binding): Record<string, Schema> {
    const { method } = binding;
    const known = statusesOf(binding).map((status) => [String(status), this.#refer(method, status)] as const);
    return Object.fromEntries([...known, ["default", this.#refer(method, undefined)]]);
  }

  /** Returns a reference to the error body of a method. */
  referBody(method: DescMethod): Schema {
    return reference(this.#bodyOf(method).name);
  }

  #bodyOf(method: DescMethod): Body {
    const errorBody = profileOf(method).errorBody || ErrorBody.RUNNEL;
    const body = this.#bodies.find((each) => each.errorBody === errorBody);
    if (body === undefined) {
      throw new Fault("CONFIG_INVALID", `${method.name} has the error body ${errorBody}, which no protocol describes`);
    }
    return body;
  }

  #refer(method: DescMethod, status: number | undefined): Schema {
    const body = this.#bodyOf(method);
    const name = `${body.name}${status === undefined ? "" : `.${status}`}`;
    if (!this.#components.has(name)) {
      const content = { "application/json": { schema: this.referBody(method) } };
      this.#components.set(name, { ...describeStatus(body, status, this.#reasons), content });
    }
    return { $ref: `#/components/responses/${name}` };
  }
}

const text = { type: "string" };
const problem = { ...text, description: "What was wrong and what to do, for people." };

/** The bodies that no protocol brings. */
const coreBodies: readonly Body[] = [
  {
    errorBody: ErrorBody.BARE,
    name: "BareError",
    schema: { type: "object", properties: { error: problem }, required: ["error"] },
  },
  {
    errorBody: ErrorBody.RUNNEL,
    name: "RunnelError",
    schema: {
      type: "object",
      properties: {
        error: problem,
        code: { ...text, description: "Name of the gRPC status." },
        reason: { ...text, description: "What happened, for programs. More reasons may come." },
        details: {
          type: "object",
          description: "More about the reason, which decides the keys.",
          properties: {
            metadata: { type: "object", description: "Facts by name.", additionalProperties: text },
            violations: {
              type: "array",
              description: "Each invalid field of the request.",
              items: {
                type: "object",
                properties: {
                  field: { ...text, description: "Path of the field: `agent.tools.builtin[0]`." },
                  description: problem,
                },
                required: ["field", "description"],
              },
            },
          },
        },
      },
      required: ["error", "code"],
    },
  },
];

/** Returns the error statuses that follow from the descriptors. Other errors are the `default`. */
function statusesOf({ method, httpMethod, body }: Binding): number[] {
  const isPublic = accessOf(method) === Access.PUBLIC;
  return [
    400,
    ...(isPublic ? [] : [401, 403, 404]),
    ...(httpMethod === "GET" ? [] : [409]),
    ...(body.kind === "none" ? [] : [413]),
    429,
    503,
  ];
}

/** The statuses that come with a `Retry-After` header. */
const retryStatuses: readonly number[] = [429, 503];

function describeStatus({ errorBody }: Body, status: number | undefined, reasons: readonly Reason[]): object {
  if (status === undefined) {
    return { description: "Any other failure." };
  }
  const names = reasons.flatMap(({ name, httpStatus }) => (httpStatus === status ? [name] : []));
  const detail = errorBody === ErrorBody.BARE ? "" : `: ${names.map((name) => `\`${name}\``).join(", ")}`;
  const description = `${STATUS_CODES[status] ?? status}${detail}.`;
  const retryAfter = { description: "Seconds to wait before the next attempt.", schema: { type: "integer" } };
  return retryStatuses.includes(status) ? { description, headers: { "Retry-After": retryAfter } } : { description };
}
