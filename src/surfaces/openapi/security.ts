// Access rules as OpenAPI security schemes.

import type { DescMethod } from "@bufbuild/protobuf";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { accessOf } from "../../platform/base/access.ts";

/** Names of security schemes. A caller needs all of them. */
export type SecurityRequirement = Readonly<Record<string, readonly never[]>>;

/** All security schemes of the service, by name. */
export const securitySchemes = {
  signature: {
    type: "apiKey",
    in: "header",
    name: "X-Signature",
    description:
      "`sha256=` and the lower-case hex of HMAC-SHA256(secret, text). The text is, with a line feed between each two: " +
      "`v2`, the HTTP method, path and query as sent, the client id, the timestamp, the nonce, and the lower-case hex " +
      "of SHA-256(body). Older clients sign `{timestamp}.{nonce}.{body}`, where the service still takes it.",
  },
  timestamp: {
    type: "apiKey",
    in: "header",
    name: "X-Timestamp",
    description: "Seconds since 1970, at most 120 away from the service's clock.",
  },
  nonce: {
    type: "apiKey",
    in: "header",
    name: "X-Nonce",
    description: "8 to 128 letters, digits, `_` or `-`, new for each request.",
  },
  client_id: { type: "apiKey", in: "header", name: "X-Client-ID", description: "The client whose secret signed." },
  api_key: { type: "http", scheme: "bearer", description: "An API key of a client." },
  run_token: { type: "http", scheme: "bearer", description: "The token of the run that a runner works on." },
  admin_token: { type: "http", scheme: "bearer", description: "The admin token of the service: `auth.admin_token`." },
  ticket: {
    type: "http",
    scheme: "bearer",
    description:
      "A ticket for this stream only, from `POST /v1/auth/tickets`. An EventSource, which cannot send headers, sends it as `?ticket=`.",
  },
} as const;

/** Returns the alternative requirements of a method: each is enough by itself. Empty for a public method. */
export function describeSecurity(method: DescMethod): readonly SecurityRequirement[] {
  return requirements[accessOf(method)];
}

const signed = { signature: [], timestamp: [], nonce: [], client_id: [] };
const byKey = { api_key: [] };

const requirements = {
  [Access.PUBLIC]: [],
  [Access.CLIENT]: [signed, byKey],
  [Access.READER]: [signed, byKey, { ticket: [] }],
  [Access.RUN]: [{ run_token: [] }],
  [Access.ADMIN]: [{ admin_token: [] }],
} satisfies Record<
  Exclude<Access, Access.UNSPECIFIED>,
  readonly Partial<Record<keyof typeof securitySchemes, never[]>>[]
>;
