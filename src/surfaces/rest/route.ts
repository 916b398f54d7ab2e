// Finds the route of a request. Of the templates that fit a path and have the method, the most specific wins: literal before
// `*` before `**`, segment by segment. A path that ends in the verb of some route matches only routes with that verb. So
// `/v1/runs/x:cancel` never means a run with the id `x:cancel`.

import { Fault } from "../../platform/base/fault.ts";
import { captureVariables, matchSegments, type PathTemplate, type TemplateSegment } from "./template.ts";

/** A template with an HTTP method, and the target that serves it. */
export interface Route<Target> {
  readonly httpMethod: string;
  readonly template: PathTemplate;
  readonly target: Target;
}

/** The result of a search. */
export type RouteMatch<Target> =
  | { readonly kind: "found"; readonly target: Target; readonly capture: () => ReadonlyMap<string, string> }
  /** The path is known but not with this method. `nearest` is the target of the most specific template. */
  | { readonly kind: "method_not_allowed"; readonly allowed: readonly string[]; readonly nearest: Target }
  | { readonly kind: "not_found" };

/** Finds routes. */
export interface Router<Target> {
  /** Finds the route of a raw path. `capture` throws Fault INVALID_ARGUMENT when the path has a malformed escape. */
  find(httpMethod: string, path: string): RouteMatch<Target>;
}

/** Creates a router. Throws Fault CONFIG_INVALID when two routes fit the same paths. */
export function createRouter<Target>(routes: readonly Route<Target>[]): Router<Target> {
  const ranked = routes.toSorted((a, b) => compareTemplates(a.template, b.template));
  assertDistinct(ranked);
  const rankedOf = selectByLength(ranked);
  return {
    find: (httpMethod, path) => {
      const fitting = findByPath(rankedOf, path);
      if (fitting === undefined) {
        return { kind: "not_found" };
      }
      const [first] = fitting.routes;
      const route = fitting.routes.find((candidate) => candidate.httpMethod === httpMethod);
      if (route === undefined) {
        const allowed = [...new Set(fitting.routes.map((candidate) => candidate.httpMethod))];
        return { kind: "method_not_allowed", allowed, nearest: first.target };
      }
      const { target, template } = route;
      return { kind: "found", target, capture: () => captureVariables(template, fitting.segments) };
    },
  };
}

/** Splits a request target, which begins with its path: `/v1/runs?x=1` gives the path `/v1/runs` and the query `x=1`. */
export function splitRequestTarget(requestTarget: string): { readonly path: string; readonly query: string } {
  const queryAt = requestTarget.indexOf("?");
  return queryAt === -1
    ? { path: requestTarget, query: "" }
    : { path: requestTarget.slice(0, queryAt), query: requestTarget.slice(queryAt + 1) };
}

/** Decodes a segment of a path. A malformed escape stays as it is: no id has a percent sign. */
export function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface FittingRoutes<Target> {
  readonly routes: readonly [Route<Target>, ...Route<Target>[]];
  readonly segments: readonly string[];
}

/** Returns the routes for paths of a number of segments. Of a hundred routes few are left. */
function selectByLength<Target>(ranked: readonly Route<Target>[]): (segments: number) => readonly Route<Target>[] {
  const hasRest = ({ template }: Route<Target>): boolean => template.segments.at(-1)?.kind === "rest";
  const longer = ranked.filter(hasRest);
  const lengths = new Set(ranked.map(({ template }) => template.segments.length));
  const byLength = new Map(
    Array.from(lengths, (length) => [
      length,
      ranked.filter((route) => hasRest(route) || route.template.segments.length === length),
    ]),
  );
  return (segments) => byLength.get(segments) ?? longer;
}

function findByPath<Target>(
  rankedOf: (segments: number) => readonly Route<Target>[],
  path: string,
): FittingRoutes<Target> | undefined {
  if (!path.startsWith("/")) {
    return undefined;
  }
  const segments = path.slice(1).split("/");
  const ranked = rankedOf(segments.length);
  const last = segments.at(-1) ?? "";
  const verbAt = last.lastIndexOf(":");
  const withVerb =
    verbAt === -1
      ? undefined
      : selectFitting(ranked, [...segments.slice(0, -1), last.slice(0, verbAt)], last.slice(verbAt + 1));
  return withVerb ?? selectFitting(ranked, segments, undefined);
}

function selectFitting<Target>(
  ranked: readonly Route<Target>[],
  segments: readonly string[],
  verb: string | undefined,
): FittingRoutes<Target> | undefined {
  const [first, ...others] = ranked.filter(
    ({ template }) => template.verb === verb && matchSegments(template, segments),
  );
  return first === undefined ? undefined : { routes: [first, ...others], segments };
}

const segmentRanks = { literal: 0, single: 1, rest: 2 } as const satisfies Record<TemplateSegment["kind"], number>;

/**
 * Returns a negative number when `a` is more specific. The end of a template ranks after `*`: only `**` can match beyond it.
 */
function compareTemplates(a: PathTemplate, b: PathTemplate): number {
  const length = Math.max(a.segments.length, b.segments.length);
  for (let index = 0; index < length; index += 1) {
    const difference = rankOf(a.segments[index]) - rankOf(b.segments[index]);
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}

function rankOf(segment: TemplateSegment | undefined): number {
  return segment === undefined ? segmentRanks.rest - 0.5 : segmentRanks[segment.kind];
}

function assertDistinct<Target>(routes: readonly Route<Target>[]): void {
  const seen = new Map<string, string>();
  for (const { httpMethod, template } of routes) {
    const shape = template.segments.map((segment) => (segment.kind === "literal" ? segment.text : `{${segment.kind}}`));
    const key = `${httpMethod} /${shape.join("/")}:${template.verb ?? ""}`;
    const other = seen.get(key);
    if (other !== undefined) {
      throw new Fault(
        "CONFIG_INVALID",
        `two routes ${httpMethod}: "${other}" and "${template.text}" match the same paths`,
      );
    }
    seen.set(key, template.text);
  }
}
