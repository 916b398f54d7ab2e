// The OpenAPI 3.1 document of the REST surface, generated from the same descriptors as the surface itself. The same descriptors
// give the same bytes.

import type { DescService } from "@bufbuild/protobuf";
import { Fault } from "../../platform/base/fault.ts";
import { compileBindings } from "../rest/rule.ts";
import { describe } from "./comments.ts";
import { ErrorResponses, type ErrorSources } from "./errors.ts";
import { coreExamples, type Examples } from "./examples.ts";
import { describeOperation, type Operation } from "./operation.ts";
import { formatPath } from "./parameters.ts";
import { Schemas } from "./schema.ts";
import { securitySchemes } from "./security.ts";

/** Options of the document. */
export interface OpenApiOptions extends ErrorSources {
  readonly services: readonly DescService[];
  /** Examples of fields of protocols, by the names of the fields. */
  readonly examples?: Examples;
  /** The version of the service. */
  readonly version: string;
  /** The base URL of the service. Unset means the origin of the document. */
  readonly serverUrl?: string;
}

/** The operations of a path, by HTTP method in lower case. */
export type PathItem = Readonly<Record<string, Operation>>;

/** An OpenAPI document. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly object[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** Creates the document. Throws Fault CONFIG_INVALID for a method that OpenAPI cannot express. */
export function createOpenApiDocument({
  services,
  version,
  serverUrl = "/",
  examples = {},
  ...sources
}: OpenApiOptions): OpenApiDocument {
  const bindings = services.flatMap(({ methods }) =>
    methods.flatMap((method) => compileBindings(method).map((binding, index) => ({ binding, index }))),
  );
  const inputs = bindings.map(({ binding }) => binding.method.input);
  const schemas = new Schemas(inputs, { ...coreExamples, ...examples });
  const served = services.filter((service) => bindings.some(({ binding }) => binding.method.parent === service));
  const errors = new ErrorResponses(schemas, served, sources);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const { binding, index } of bindings) {
    const path = formatPath(binding.template);
    paths[path] = {
      ...paths[path],
      [methodKey(binding.httpMethod)]: describeOperation(binding, index, { schemas, errors }),
    };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Runnel", description, license: { name: "Apache-2.0", identifier: "Apache-2.0" }, version },
    servers: [{ url: serverUrl }],
    tags: served.map((service) => ({ name: service.name, ...describe(service) })),
    paths,
    components: { schemas: schemas.list(), responses: errors.list(), securitySchemes: schemesOf(paths) },
  };
}

/** Returns the security schemes that a REST operation uses: some schemes are for methods without a REST form. */
function schemesOf(paths: OpenApiDocument["paths"]): Readonly<Record<string, object>> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const used = new Set(operations.flatMap(({ security }) => security.flatMap((way) => Object.keys(way))));
  return Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name)));
}

/** Returns the document as text, with a final newline. It never changes while the service runs, so callers create it once. */
export function printOpenApiDocument(options: OpenApiOptions): string {
  return `${JSON.stringify(createOpenApiDocument(options))}\n`;
}

const description =
  "Runs agents for other programs. The same methods are served over gRPC, gRPC-Web and Connect; this is their REST form.";

/** The HTTP methods that a path item can contain. */
const methodKeys: readonly string[] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

function methodKey(httpMethod: string): string {
  const key = httpMethod.toLowerCase();
  if (!methodKeys.includes(key)) {
    throw new Fault("CONFIG_INVALID", `OpenAPI does not have the method ${httpMethod}`);
  }
  return key;
}
