// Reads the JSON Schemas of clients' tools. A schema that is not draft 2020-12 is converted (`mend-schema.ts`). A schema is
// user input, so its size, compile time and check time are bounded. Its patterns run on an engine without backtracking, and its
// references stay inside it. The model still sees a schema that cannot be compiled within these limits; its arguments are then
// not checked.

import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { parseExact, printJson } from "../../platform/base/json/exact.ts";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { isDeeper } from "./depth.ts";
import { mendParameters } from "./mend-schema.ts";
import type { Fields } from "./sub-schemas.ts";
import { runInTime } from "./time-box.ts";

/** A schema and the check of arguments against it. */
export interface ArgumentsSchema {
  /** The schema that the model sees: an object schema of draft 2020-12. */
  readonly parameters: object;
  /** What was left out of the schema, and why arguments are not checked, worded for an operator. */
  readonly problems: readonly string[];
  /** Returns the violation, worded for the model, or undefined for valid and for unchecked arguments. */
  findProblem(args: unknown): string | undefined;
}

/** Why a text is not usable. `isInvalid` means that it is no JSON object; otherwise no provider would accept the schema. */
export interface SchemaProblem {
  readonly problem: string;
  readonly isInvalid: boolean;
}

/** The maximum size of a checked schema. A larger one takes too long to compile, so its arguments are not checked. */
export const checkedBytesMax = 65_536;

const depthMax = 64;

/** The time limit of one check. A normal check takes less than a millisecond. */
const checkTimeMs = 500;

/** Parses and compiles a schema, within the timeout. Takes no time for a text that was read before. */
export function readSchema(text: string, timeoutMs: number): ArgumentsSchema | SchemaProblem {
  const found = known.get(text);
  return found === undefined ? parse(text, timeoutMs) : keep(text, found);
}

/** The maximum number of cached schemas. Sessions repeat the same schemas, and the code of one may take some hundred KiB. */
const knownMax = 128;
const known = new Map<string, ArgumentsSchema>();

function keep(text: string, schema: ArgumentsSchema): ArgumentsSchema {
  known.delete(text);
  known.set(text, schema);
  const [leastRecent] = known.keys();
  if (known.size > knownMax && leastRecent !== undefined) {
    known.delete(leastRecent);
  }
  return schema;
}

function parse(text: string, timeoutMs: number): ArgumentsSchema | SchemaProblem {
  const given = parseObject(text);
  if (given === undefined) {
    const more = text.trimStart().startsWith('"') ? ", and not a text that has one" : "";
    return { problem: `parameters must be a JSON Schema of an object${more}`, isInvalid: true };
  }
  if (isDeeper(given, depthMax)) {
    return { problem: `parameters are nested more than ${depthMax} levels deep`, isInvalid: false };
  }
  const problems: string[] = [];
  const parameters = mendParameters(given, (problem) => problems.push(problem.slice(0, problemCharsMax)));
  if (parameters === undefined) {
    return { problem: `parameters must be of an object, not of ${JSON.stringify(given.type)}`, isInvalid: false };
  }
  const compiled = compile(parameters, { sizeBytes: Buffer.byteLength(text), timeoutMs, problems });
  if ("validate" in compiled) {
    return keep(text, { parameters, problems, findProblem: (args) => findViolation(compiled.validate, args) });
  }
  const why = `arguments are not checked: ${compiled.problem}`;
  const unchecked = { parameters, problems: [...problems, why], findProblem: () => undefined };
  // Not cached after a timeout, because a less busy machine may compile it in time.
  return compiled.isPassing ? unchecked : keep(text, unchecked);
}

/** Parses the text with all digits of its numbers. Empty text means no arguments, and so does an empty array, which is how PHP writes an empty object. */
function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = parseExact(text.trim() === "" ? "{}" : text);
    const isEmpty = Array.isArray(value) && value.length === 0;
    return isEmpty ? {} : isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Compilation {
  readonly sizeBytes: number;
  readonly timeoutMs: number;
  /** Receives what was left out of the schema. */
  readonly problems: string[];
}

function compile(
  parameters: Record<string, unknown>,
  { sizeBytes, timeoutMs, problems }: Compilation,
): { readonly validate: ValidateFunction } | { readonly problem: string; readonly isPassing: boolean } {
  if (sizeBytes > checkedBytesMax) {
    return { problem: `the schema has ${sizeBytes} bytes (max ${checkedBytesMax})`, isPassing: false };
  }
  // Compiles the draft's own schema outside the time limit, where no timeout can interrupt it half-way.
  void judge.validateSchema({});
  try {
    const done = runInTime(timeoutMs, () => {
      problems.push(...dropInvalid(parameters));
      return new Ajv2020(compilerOptions).compile(toPlain(parameters));
    });
    return done === undefined
      ? { problem: "the schema takes too long to compile", isPassing: true }
      : { validate: done.result };
  } catch (error) {
    return { problem: describe(error), isPassing: false };
  }
}

/** Returns the schema with the numbers of JavaScript, as a validator reads it. */
function toPlain(schema: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(printJson(schema)) as Record<string, unknown>;
}

/** Removes each keyword whose value the draft forbids, because providers refuse such keywords as well. */
function dropInvalid(schema: Record<string, unknown>): string[] {
  if (judge.validateSchema(toPlain(schema)) === true) {
    return [];
  }
  const dropped = new Map((judge.errors ?? []).map(({ instancePath, message = "" }) => [instancePath, message]));
  for (const path of dropped.keys()) {
    dropKeyword(schema, path.split("/").slice(1));
  }
  return [...dropped].slice(0, droppedShownMax).map(([path, message]) => `${path} ${message}: it was left out`);
}

const droppedShownMax = 10;

/** Removes one keyword. An error inside a list removes the whole list. */
function dropKeyword(schema: Record<string, unknown>, [step = "", ...rest]: readonly string[]): void {
  const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
  const value = Object.hasOwn(schema, name) ? schema[name] : undefined;
  if (rest.length > 0 && isObject(value)) {
    dropKeyword(value, rest);
  } else if (rest.length > 1 && Array.isArray(value) && isObject(value[Number(rest[0])])) {
    dropKeyword(value[Number(rest[0])], rest.slice(1));
  } else {
    delete schema[name];
  }
}

/** The maximum length of a problem with a value, in characters. */
export const problemCharsMax = 500;

const lenient = { strict: false, logger: false, validateFormats: false } as const satisfies Options;

/** Only checks whether a schema is valid. It compiles only the draft's own schema. */
const judge = new Ajv2020({ ...lenient, allErrors: true });

/** Options of a compiler. Each schema gets a new one, because a compiler keeps everything it compiled. */
const compilerOptions: Options = {
  ...lenient,
  meta: false,
  validateSchema: false,
  // With inlining, the code grows with each reference to a large part. Optimising the code takes longer than running it.
  inlineRefs: false,
  code: { optimize: false, regExp: Object.assign(compilePattern, { code: "" }) },
  // Inherited properties must not satisfy `required: ["toString"]`.
  ownProperties: true,
};

function compilePattern(pattern: string): { test(text: string): boolean; toString(): string } {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    throw new Error(`pattern ${JSON.stringify(pattern)}: ${describe(error)} (RE2 syntax, without look-around)`);
  }
  // The compiler distinguishes patterns by their text.
  return { test: (text) => expression.matcher(text).find(), toString: () => pattern };
}

function findViolation(validate: ValidateFunction, args: unknown): string | undefined {
  let isValid: { readonly result: boolean } | undefined;
  try {
    isValid = runInTime(checkTimeMs, () => validate(args) as boolean);
  } catch (error) {
    return `invalid arguments: the check against the schema of the tool failed: ${describe(error)}`;
  }
  if (isValid === undefined) {
    return `invalid arguments: the check against the schema of the tool took longer than ${checkTimeMs} ms`;
  }
  const [violation] = validate.errors ?? [];
  return isValid.result || violation === undefined ? undefined : describeViolation(violation);
}

function describeViolation({ instancePath, schemaPath, keyword, params, message = "" }: ErrorObject): string {
  const place = instancePath === "" ? "the arguments" : instancePath;
  return `invalid arguments: ${place} ${message}${nameMore(keyword, params)} (${schemaPath})`.slice(0, problemCharsMax);
}

/** Returns the value that the message leaves out. */
function nameMore(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const name = params.additionalProperty ?? params.unevaluatedProperty;
  const more = keyword === "enum" ? params.allowedValues : keyword === "const" ? params.allowedValue : name;
  return more === undefined ? "" : `: ${JSON.stringify(more)}`;
}

function describe(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, problemCharsMax);
}
