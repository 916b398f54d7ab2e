// Which route wins, and the answer when no route matches.

import { describe, expect, test } from "vitest";
import { createRouter, splitRequestTarget } from "../../src/surfaces/rest/route.ts";
import { parseTemplate } from "../../src/surfaces/rest/template.ts";

function routerOf(...rules: string[]) {
  return createRouter(
    rules.map((rule) => {
      const [httpMethod = "", template = ""] = rule.split(" ");
      return { httpMethod, template: parseTemplate(template), target: rule };
    }),
  );
}

const router = routerOf(
  "GET /v1/**",
  "GET /v1/*/x",
  "GET /v1/runs/{id}",
  "POST /v1/runs/{id}:cancel",
  "GET /v1/runs/{id}/results",
  "GET /v1/runs/{id}/results:tail",
  "GET /v1/runs/mine",
  "DELETE /v1/runs/{id}",
  "POST /v1/runs",
);

function find(method: string, path: string): unknown {
  const match = router.find(method, path);
  switch (match.kind) {
    case "found":
      return [match.target, Object.fromEntries(match.capture())];
    case "method_not_allowed":
      return match.allowed;
    case "not_found":
      return "not found";
    default:
      return match satisfies never;
  }
}

describe("the router", () => {
  test.each([
    ["the first segment that differs decides", "GET", "/v1/runs/x", ["GET /v1/runs/{id}", { id: "x" }]],
    ["`*` comes before `**`", "GET", "/v1/other/x", ["GET /v1/*/x", {}]],
    ["a verb follows a literal too", "GET", "/v1/runs/x/results:tail", ["GET /v1/runs/{id}/results:tail", { id: "x" }]],
    ["a verb alone is not an id", "POST", "/v1/runs/:cancel", ["DELETE", "GET"]],
    ["the path of a verb belongs to it", "GET", "/v1/runs/x:cancel", ["POST"]],
    [
      "a method is looked for in less specific routes",
      "DELETE",
      "/v1/runs/mine",
      ["DELETE /v1/runs/{id}", { id: "mine" }],
    ],
    ["a wrong method is told all that is allowed", "PUT", "/v1/runs", ["POST", "GET"]],
    ["HEAD is a method like any other", "HEAD", "/v1/runs/x", ["GET", "DELETE"]],
    ["the asterisk of OPTIONS is not a path", "OPTIONS", "*", "not found"],
  ])("%s", (_, method, path, expected) => {
    const found = find(method, path);
    expect(Array.isArray(found) && typeof found[1] === "string" ? found.toSorted() : found).toEqual(
      Array.isArray(expected) && typeof expected[1] === "string" ? expected.toSorted() : expected,
    );
  });

  test("reports a malformed escape only when the capture is read", () => {
    const match = router.find("GET", "/v1/runs/%ZZ");
    expect(match.kind).toBe("found");
    expect(() => match.kind === "found" && match.capture()).toThrow("percent escape");
  });

  test("refuses two routes that fit the same paths", () => {
    expect(() => routerOf("GET /a/{x}", "GET /a/{y=*}")).toThrow('"/a/{x}" and "/a/{y=*}"');
    expect(() => routerOf("GET /a/{x}", "POST /a/{x}", "GET /a/{x}:v")).not.toThrow();
  });
});

describe("splitRequestTarget", () => {
  test.each([
    ["/a/b?c=d?e", "/a/b", "c=d?e"],
    ["/a", "/a", ""],
    ["//a", "//a", ""],
  ])("%s", (target, path, query) => {
    expect(splitRequestTarget(target)).toEqual({ path, query });
  });
});
