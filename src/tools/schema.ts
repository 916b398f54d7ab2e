// The JSON Schemas that callers describe their tools by: the draft is 2020-12, or 07 where `$schema` says so. A schema is
// user input, so its size, the time to compile it and the time of a check are bounded, its patterns run on an engine
// without backtracking, and its references lead nowhere but into itself.

import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { isDeeper } from "./depth.ts";
import { runInTime } from "./time-box.ts";

export interface ArgumentsSchema {
  /** As the model is told. */
  readonly parameters: object;
  /** What is wrong with arguments, worded for the model; undefined when nothing is. */
  findProblem(args: unknown): string | undefined;
}

/** Larger ones describe no tool, and take longer to compile than a message may. */
export const schemaBytesMax = 65_536;

const depthMax = 64;

/** Of one check. Honest ones take less than a millisecond. */
export const checkTimeMs = 500;

/** A problem is for whoever sent the schema. What was compiled before takes no time. */
export function readSchema(text: string, timeoutMs: number): ArgumentsSchema | { readonly problem: string } {
  const schema = compiled.get(text) ?? parseAndCompile(text, timeoutMs);
  if (!("problem" in schema)) {
    keep(text, schema);
  }
  return schema;
}

/** The messages of a session bring the same schemas again and again. The code of one may take some hundred KiB. */
const compiledMax = 128;
const compiled = new Map<string, ArgumentsSchema>();

function keep(text: string, schema: ArgumentsSchema): void {
  compiled.delete(text);
  compiled.set(text, schema);
  const [leastRecent] = compiled.keys();
  if (compiled.size > compiledMax && leastRecent !== undefined) {
    compiled.delete(leastRecent);
  }
}

function parseAndCompile(text: string, timeoutMs: number): ArgumentsSchema | { readonly problem: string } {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > schemaBytesMax) {
    return { problem: `parameters are too large: ${sizeBytes} bytes (max ${schemaBytesMax})` };
  }
  const schema = parseSchema(text);
  if (schema === undefined) {
    return { problem: "parameters must be a JSON Schema of an object" };
  }
  if (isDeeper(schema, depthMax)) {
    return { problem: `parameters are nested more than ${depthMax} levels deep` };
  }
  try {
    const draft = draftOf(schema);
    const done = runInTime(timeoutMs, () => compile(schema, draft));
    if (done === undefined) {
      return { problem: "parameters take too long to compile: make the schema smaller, or try again" };
    }
    const parameters = Object.keys(schema).length === 0 ? { type: "object", properties: {} } : schema;
    return { parameters, findProblem: (args) => findViolation(done.result, args) };
  } catch (error) {
    return { problem: `parameters are not a valid JSON Schema: ${describe(error)}` };
  }
}

/** No text and an empty array, which is how PHP writes an empty object, mean no arguments. */
function parseSchema(text: string): AnySchemaObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === "" ? "{}" : text, mendEmptyObject);
  } catch {
    return undefined;
  }
  if (Array.isArray(value) && value.length === 0) {
    return {};
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && takesObjects(value as { type?: unknown }) ? (value as AnySchemaObject) : undefined;
}

function mendEmptyObject(key: string, value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 && keywordsOfObjects.has(key) ? {} : value;
}

/** Keywords whose value is an object of schemas. */
const keywordsOfObjects: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);

function takesObjects({ type }: { readonly type?: unknown }): boolean {
  return type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
}

interface Draft {
  readonly pattern: RegExp;
  /** Says only whether a schema is one. It compiles nothing but the draft's own schema. */
  readonly judge: Ajv;
  /** A new one for each schema: what is compiled stays with its compiler for good. */
  readonly createCompiler: () => Ajv;
}

function draftOf({ $schema = "https://json-schema.org/draft/2020-12/schema" }: { readonly $schema?: unknown }): Draft {
  const draft = drafts.find(({ pattern }) => typeof $schema === "string" && pattern.test($schema));
  if (draft === undefined) {
    throw new Error(`$schema ${JSON.stringify($schema)} is not known: use draft 2020-12 or draft-07`);
  }
  // Here it gets ready, where nothing ends it half-way.
  draft.judge.validateSchema({});
  return draft;
}

/** Throws what is wrong. */
function compile(schema: AnySchemaObject, { judge, createCompiler }: Draft): ValidateFunction {
  if (judge.validateSchema(schema) !== true) {
    throw new Error(judge.errorsText(judge.errors, { dataVar: "parameters" }));
  }
  return createCompiler().compile(schema);
}

const problemCharsMax = 500;

const lenient = { strict: false, logger: false, validateFormats: false } as const satisfies Options;

const compilerOptions: Options = {
  ...lenient,
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  // Else the code grows with each reference to a large part; and polishing the code takes longer than running it.
  inlineRefs: false,
  code: { optimize: false, regExp: Object.assign(compilePattern, { code: "" }) },
  // `required: ["toString"]` is not met by what every object has.
  ownProperties: true,
};

const drafts: readonly Draft[] = [
  {
    pattern: /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
    judge: new Ajv2020(lenient),
    createCompiler: () => new Ajv2020(compilerOptions),
  },
  {
    pattern: /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/,
    judge: new Ajv(lenient),
    createCompiler: () => new Ajv(compilerOptions),
  },
];

function compilePattern(pattern: string): { test(text: string): boolean; toString(): string } {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    throw new Error(`pattern ${JSON.stringify(pattern)}: ${describe(error)} (RE2 syntax, without look-around)`);
  }
  // The compiler tells patterns apart by their text.
  return { test: (text) => expression.matcher(text).find(), toString: () => pattern };
}

function findViolation(validate: ValidateFunction, args: unknown): string | undefined {
  let isValid: { readonly result: boolean } | undefined;
  try {
    isValid = runInTime(checkTimeMs, () => validate(args) as boolean);
  } catch (error) {
    return `invalid arguments: they could not be checked against the schema of the tool: ${describe(error)}`;
  }
  if (isValid === undefined) {
    return `invalid arguments: to check them against the schema of the tool takes longer than ${checkTimeMs} ms`;
  }
  const [violation] = validate.errors ?? [];
  return isValid.result || violation === undefined ? undefined : describeViolation(violation);
}

function describeViolation({ instancePath, schemaPath, keyword, params, message = "" }: ErrorObject): string {
  const place = instancePath === "" ? "the arguments" : instancePath;
  return `invalid arguments: ${place} ${message}${nameMore(keyword, params)} (${schemaPath})`.slice(0, problemCharsMax);
}

/** What the message leaves out. */
function nameMore(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const name = params.additionalProperty ?? params.unevaluatedProperty;
  const more = keyword === "enum" ? params.allowedValues : keyword === "const" ? params.allowedValue : name;
  return more === undefined ? "" : `: ${JSON.stringify(more)}`;
}

function describe(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, problemCharsMax);
}
