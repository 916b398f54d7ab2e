// The examples of the OpenAPI document.

import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { errorForms, examples, reasons, services } from "../../src/app/protocols.ts";
import { createOpenApiDocument } from "../../src/surfaces/openapi/document.ts";
import { lookUp } from "./openapi-schema.ts";

type Json = Readonly<Record<string, unknown>>;

const document = createOpenApiDocument({ services, reasons, errorForms, examples, version: "1.2.3" });

test("every example fits the schema beside it", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const found = [...schemasWithExamples(document)];
  expect(found.length).toBeGreaterThan(100);
  for (const { examples, ...schema } of found) {
    for (const example of examples as readonly unknown[]) {
      expect({ schema, example, fits: ajv.validate(schema, example) }).toMatchObject({ fits: true });
    }
  }
});

test("most operations with input show an example", () => {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const withInput = operations.filter(({ parameters, requestBody }) => (parameters ?? requestBody) !== undefined);
  const shown = withInput.filter(
    ({ parameters, requestBody }) => [...schemasWithExamples(resolve({ parameters, requestBody }))].length > 0,
  );
  expect(shown.length / withInput.length).toBeGreaterThan(0.8);
});

/** Replaces references to components by the components, except in themselves. */
function resolve(value: unknown, within: readonly string[] = []): unknown {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((each) => resolve(each, within));
  }
  const { $ref: reference } = value as { readonly $ref?: string };
  if (reference !== undefined) {
    return within.includes(reference) ? {} : resolve(lookUp(document, reference), [...within, reference]);
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each, within)]));
}

function* schemasWithExamples(value: unknown): Generator<Json> {
  if (typeof value !== "object" || value === null) {
    return;
  }
  if ("examples" in value && Array.isArray(value.examples)) {
    yield value as Json;
  }
  for (const each of Object.values(value)) {
    yield* schemasWithExamples(each);
  }
}
