// Errors as components: one body for each profile, and one response for each profile and status.

import { STATUS_CODES } from "node:http";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Access, ErrorBody } from "#gen/runnel/options/v1/options_pb.js";
import { accessOf } from "../../platform/base/access.ts";
import type { Reason } from "../../platform/base/reasons.ts";
import { profileOf } from "../rest/profile.ts";
import type { Binding } from "../rest/rule.ts";
import { reference, type Schema } from "./json-schema.ts";
import type { Schemas } from "./schema.ts";

type ErrorProfile = Exclude<ErrorBody, ErrorBody.UNSPECIFIED>;

/** Collects the error responses that operations refer to. */
export class ErrorResponses {
  readonly #components = new Map<string, object>();
  readonly #reasons: readonly Reason[];

  /** Defines the error bodies before any message, so that they get their names first. */
  constructor(schemas: Schemas, services: readonly DescService[], reasons: readonly Reason[]) {
    this.#reasons = reasons;
    for (const profile of new Set(services.flatMap(({ methods }) => methods.map(errorBodyOf)))) {
      const { name, schema } = bodies[profile];
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
    return reference(bodies[errorBodyOf(method)].name);
  }

  #refer(method: DescMethod, status: number | undefined): Schema {
    const profile = errorBodyOf(method);
    const name = `${bodies[profile].name}${status === undefined ? "" : `.${status}`}`;
    if (!this.#components.has(name)) {
      const content = { "application/json": { schema: this.referBody(method) } };
      this.#components.set(name, { ...describeStatus(profile, status, this.#reasons), content });
    }
    return { $ref: `#/components/responses/${name}` };
  }
}

function errorBodyOf(method: DescMethod): ErrorProfile {
  return profileOf(method).errorBody || ErrorBody.RUNNEL;
}

const text = { type: "string" };
const problem = { ...text, description: "What was wrong and what to do, for people." };

const bodies: Record<ErrorProfile, { readonly name: string; readonly schema: Schema }> = {
  [ErrorBody.BARE]: {
    name: "BareError",
    schema: { type: "object", properties: { error: problem }, required: ["error"] },
  },
  [ErrorBody.RUNNEL]: {
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
  [ErrorBody.JOBSPEC]: {
    name: "JobspecError",
    schema: {
      type: "object",
      properties: {
        error: { ...text, description: "What was wrong; for a body that could not be read, the code again." },
        error_code: { ...text, description: "What was wrong, for programs." },
        message: { ...text, description: "What was wrong with a body that could not be read." },
        details: { type: "object", description: "Facts about the error code by name.", additionalProperties: text },
      },
      required: ["error", "error_code"],
    },
  },
  [ErrorBody.CODE]: {
    name: "CodeError",
    schema: {
      type: "object",
      properties: {
        error: { ...text, description: "What was wrong, for programs." },
        message: problem,
        details: { ...text, description: "Where the JSON is wrong." },
        retry_after: { type: "integer", description: "Seconds to wait before the next attempt." },
      },
      required: ["error"],
    },
  },
};

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

function describeStatus(profile: ErrorProfile, status: number | undefined, reasons: readonly Reason[]): object {
  if (status === undefined) {
    return { description: "Any other failure." };
  }
  const names = reasons.flatMap(({ name, httpStatus }) => (httpStatus === status ? [name] : []));
  const detail = profile === ErrorBody.BARE ? "" : `: ${names.map((name) => `\`${name}\``).join(", ")}`;
  const description = `${STATUS_CODES[status] ?? status}${detail}.`;
  const retryAfter = { description: "Seconds to wait before the next attempt.", schema: { type: "integer" } };
  return retryStatuses.includes(status) ? { description, headers: { "Retry-After": retryAfter } } : { description };
}
