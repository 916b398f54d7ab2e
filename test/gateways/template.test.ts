// The path grammar: which templates are accepted, which paths they match, what they capture.

import { describe, expect, test } from "vitest";
import { captureVariables, matchSegments, parseTemplate } from "../../src/surfaces/rest/template.ts";

function capture(template: string, path: string): Record<string, string> | undefined {
  const parsed = parseTemplate(template);
  const segments = path.slice(1).split("/");
  return matchSegments(parsed, segments) ? Object.fromEntries(captureVariables(parsed, segments)) : undefined;
}

describe("parseTemplate", () => {
  test.each([
    "/v1",
    "/v1/sessions",
    "/v1/{id}",
    "/v1/{id}:cancel",
    "/v1/sessions:search",
    "/*/b/**",
    "/v1/**:go",
    "/v1/{name=shelves/*/books/*}",
    "/v1/{name=**}",
    "/v1/{a.b.c=*}/x",
    "/~user/a-b.c_d/(x)",
  ])("accepts %s", (text) => {
    expect(parseTemplate(text).text).toBe(text);
  });

  test.each([
    ["", 'expected "/"'],
    ["v1", 'expected "/"'],
    ["/", "expected a literal"],
    ["/v1/", "expected a literal"],
    ["/v1//x", "expected a literal"],
    ["/v1?x=1", "expected the end"],
    ["/v1/a%20b", "expected the end"],
    ["/v1/{id", 'expected "}"'],
    ["/v1/{}", "expected a field path"],
    ["/v1/{a..b}", 'expected "}"'],
    ["/v1/{1a}", "expected a field path"],
    ["/v1/{id=}", "expected a literal"],
    ["/v1/{a={b}}", "expected a literal"],
    ["/v1/{id=a:b}", 'expected "}"'],
    ["/v1/{id}x", "expected the end"],
    ["/v1/x{id}", "expected the end"],
    ["/v1:", "expected a literal"],
    ["/v1:a:b", "expected the end"],
    ["/v1:a/b", "expected the end"],
    ["/v1/***", "expected the end"],
    ["/**/x", "`**` must be the last segment"],
    ["/{a=**}/{b}", "`**` must be the last segment"],
    ["/{a}/{a}", "variable a appears twice"],
  ])("refuses %s: %s", (text, problem) => {
    expect(() => parseTemplate(text)).toThrow(problem);
  });
});

describe("a template", () => {
  test.each([
    ["/v1/a", "/v1/a", {}],
    ["/v1/a", "/v1/A", undefined],
    ["/v1/a", "/v1/a/", undefined],
    ["/v1/a", "/v1/%61", undefined],
    ["/v1/*", "/v1/x", {}],
    ["/v1/*", "/v1/", undefined],
    ["/v1/*", "/v1/x/y", undefined],
    ["/v1/**", "/v1", {}],
    ["/v1/**", "/v1/x/y", {}],
    ["/v1/**", "/v1/x/", undefined],
    ["/v1/**", "/v2/x", undefined],
    ["/v1/{id}", "/v1/x", { id: "x" }],
    ["/v1/{id}", "/v1/a%20b%2Fc+d", { id: "a b/c+d" }],
    ["/v1/{id}", "/v1/%F0%9F%90%B3", { id: "🐳" }],
    ["/v1/{id}/x", "/v1//x", undefined],
    ["/v1/{name=shelves/*}", "/v1/shelves/a%2fb%20c", { name: "shelves/a%2fb c" }],
    ["/v1/{name=**}", "/v1/a/b%2Fc%25", { name: "a/b%2Fc%" }],
    ["/v1/{name=**}", "/v1", { name: "" }],
    ["/v1/{a=x/*}/{b.c}", "/v1/x/1/2", { a: "x/1", "b.c": "2" }],
    ["/v1/{a}/{b=**}", "/v1/1/2/3", { a: "1", b: "2/3" }],
  ])("%s on %s captures %j", (template, path, captured) => {
    expect(capture(template, path)).toEqual(captured);
  });

  test.each([
    ["/v1/{id}", "/v1/%ZZ"],
    ["/v1/{id}", "/v1/%F0"],
    ["/v1/{name=**}", "/v1/a/%ZZ"],
    ["/v1/{name=**}", "/v1/a%2Fb%Z"],
    ["/v1/*", "/v1/%"],
  ])("%s refuses the malformed escape of %s", (template, path) => {
    expect(() => capture(template, path)).toThrow("percent escape");
  });
});
