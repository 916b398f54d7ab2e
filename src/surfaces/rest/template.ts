// Parses and matches path templates of google.api.http: template text → segments, variables and verb. Knows neither descriptors
// nor routes. Matching uses the raw path; only captured text is decoded.
//
//   template = "/" segments [ ":" verb ]     segment  = "*" | "**" | literal | variable
//   segments = segment { "/" segment }       variable = "{" field.path [ "=" segments ] "}"

import { Fault } from "../../platform/base/fault.ts";

/** A segment of a path template. */
export type TemplateSegment =
  | { readonly kind: "literal"; readonly text: string }
  /** `*`: exactly one segment. */
  | { readonly kind: "single" }
  /** `**`: all remaining segments, possibly zero; only at the end. */
  | { readonly kind: "rest" };

/** A variable of a path template, and the segments that it captures. */
export interface TemplateVariable {
  readonly fieldPath: string;
  /** The index of the first captured segment. */
  readonly start: number;
  /** The index after the last captured segment; with `**` the capture reaches the end of the path. */
  readonly end: number;
  /** True when the variable captures several segments. An escaped slash then stays escaped. */
  readonly multiple: boolean;
}

/** A parsed path template. */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly TemplateSegment[];
  readonly variables: readonly TemplateVariable[];
  readonly verb: string | undefined;
}

/** Parses a template, such as `/v1/{name=shelves/*}:read`. Throws Fault CONFIG_INVALID with the offset of the first error. */
export function parseTemplate(text: string): PathTemplate {
  const cursor: Cursor = { text, at: 0 };
  const segments: TemplateSegment[] = [];
  const variables: TemplateVariable[] = [];
  expect(cursor, "/");
  parseSegments(cursor, segments, variables);
  const verb = accept(cursor, ":") ? parseLiteral(cursor) : undefined;
  if (cursor.at < text.length) {
    throw invalid(cursor, "expected the end");
  }
  const rest = segments.findIndex((segment) => segment.kind === "rest");
  if (rest !== -1 && rest < segments.length - 1) {
    throw invalid(cursor, "`**` must be the last segment");
  }
  const names = variables.map((variable) => variable.fieldPath);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw invalid(cursor, `variable ${twice} appears twice`);
  }
  return { text, segments, variables, verb };
}

/** Whether raw path segments (without the verb) fit a template. An empty segment, as after a trailing slash, never fits. */
export function matchSegments(template: PathTemplate, path: readonly string[]): boolean {
  const { segments } = template;
  const hasRest = segments.at(-1)?.kind === "rest";
  const fixed = hasRest ? segments.length - 1 : segments.length;
  if (hasRest ? path.length < fixed : path.length !== fixed) {
    return false;
  }
  return path.every((text, index) => {
    const segment = segments[index];
    return segment?.kind === "literal" ? segment.text === text : text !== "";
  });
}

/** Decodes the captured variables of a matching path. Throws Fault INVALID_ARGUMENT for a malformed escape in the path. */
export function captureVariables(template: PathTemplate, path: readonly string[]): ReadonlyMap<string, string> {
  for (const text of path) {
    decodeSegment(text);
  }
  const captures = new Map<string, string>();
  for (const { fieldPath, start, end, multiple } of template.variables) {
    const reachesRest = template.segments[end - 1]?.kind === "rest";
    const captured = path.slice(start, reachesRest ? path.length : end);
    captures.set(fieldPath, captured.map(multiple ? decodeKeepingSlashes : decodeSegment).join("/"));
  }
  return captures;
}

interface Cursor {
  readonly text: string;
  at: number;
}

// The characters that RFC 3986 allows unescaped in a segment, except `:` (the verb) and `*` (wildcards). Escapes are left out
// on purpose: literals are compared with the raw path, so an escaped literal could never match.
const literalPattern = /[A-Za-z0-9\-._~!$&'()+,;=@]+/y;
const fieldPathPattern = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/y;

function parseSegments(cursor: Cursor, segments: TemplateSegment[], variables: TemplateVariable[] | undefined): void {
  do {
    if (variables !== undefined && accept(cursor, "{")) {
      parseVariable(cursor, segments, variables);
    } else {
      segments.push(parseSegment(cursor));
    }
  } while (accept(cursor, "/"));
}

function parseVariable(cursor: Cursor, segments: TemplateSegment[], variables: TemplateVariable[]): void {
  const fieldPath = parsePattern(cursor, fieldPathPattern, "expected a field path");
  const start = segments.length;
  if (accept(cursor, "=")) {
    // The grammar of http.proto does not nest variables, so none can start inside.
    parseSegments(cursor, segments, undefined);
  } else {
    segments.push({ kind: "single" });
  }
  expect(cursor, "}");
  const end = segments.length;
  const multiple = end - start > 1 || segments[start]?.kind === "rest";
  variables.push({ fieldPath, start, end, multiple });
}

function parseSegment(cursor: Cursor): TemplateSegment {
  if (accept(cursor, "**")) {
    return { kind: "rest" };
  }
  if (accept(cursor, "*")) {
    return { kind: "single" };
  }
  return { kind: "literal", text: parseLiteral(cursor) };
}

function parseLiteral(cursor: Cursor): string {
  return parsePattern(cursor, literalPattern, "expected a literal");
}

function parsePattern(cursor: Cursor, pattern: RegExp, problem: string): string {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0];
  if (found === undefined) {
    throw invalid(cursor, problem);
  }
  cursor.at += found.length;
  return found;
}

function accept(cursor: Cursor, token: string): boolean {
  if (!cursor.text.startsWith(token, cursor.at)) {
    return false;
  }
  cursor.at += token.length;
  return true;
}

function expect(cursor: Cursor, token: string): void {
  if (!accept(cursor, token)) {
    throw invalid(cursor, `expected "${token}"`);
  }
}

function invalid(cursor: Cursor, problem: string): Fault {
  return new Fault("CONFIG_INVALID", `path template "${cursor.text}", offset ${cursor.at}: ${problem}`);
}

function decodeKeepingSlashes(text: string): string {
  return text
    .split(/(%2[Ff])/)
    .map((part, index) => (index % 2 === 1 ? part : decodeSegment(part)))
    .join("");
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Fault("INVALID_ARGUMENT", "invalid path: a percent escape is malformed or is not UTF-8");
  }
}
