// google.api.http rules: what they bind, and which rules prevent the start.

import { FieldDescriptorProto_Type } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { formatFieldPath } from "../../src/platform/base/json/field-path.ts";
import { compileBindings } from "../../src/surfaces/rest/rule.ts";
import { buildMethod, type FieldSpec } from "./descriptors.ts";

const fields: readonly FieldSpec[] = [
  { name: "run_id", number: 1 },
  { name: "tags", number: 2, repeated: true },
  { name: "inner", number: 3, type: FieldDescriptorProto_Type.MESSAGE, typeName: ".test.Request" },
];

function get(path: string) {
  return { pattern: { case: "get" as const, value: path } };
}

describe("compileBindings", () => {
  test("binds the real contract", () => {
    const cancel = compileBindings(RunService.method.cancelRun)[0];
    expect(cancel).toMatchObject({ httpMethod: "POST", body: { kind: "whole", optional: true } });
    expect(cancel?.responseField?.name).toBe("run");
    const stream = compileBindings(SessionService.method.streamSession)[0];
    expect(stream?.cursor?.field.name).toBe("after");
    expect(stream?.cursor?.aliases).toEqual(["after_seq"]);
    const send = compileBindings(SessionService.method.sendMessage)[0];
    expect(send?.body).toEqual({ kind: "whole", optional: false });
  });

  test("gives every additional binding a body, fields and a path of its own", () => {
    const method = buildMethod(fields, {
      ...get("/a/{inner.run_id}"),
      additionalBindings: [{ pattern: { case: "patch", value: "/b/{runId}" }, body: "inner", responseBody: "tags" }],
    });
    const [first, second] = compileBindings(method);
    expect([...(first?.pathFields.values() ?? [])].map(formatFieldPath)).toEqual(["inner.run_id"]);
    expect(second).toMatchObject({ httpMethod: "PATCH", body: { kind: "field" } });
    expect([...(second?.pathFields.values() ?? [])].map(formatFieldPath)).toEqual(["run_id"]);
    expect(second?.responseField?.name).toBe("tags");
  });

  test("takes a custom method in upper case", () => {
    const rule = { pattern: { case: "custom" as const, value: { kind: "HEAD", path: "/a" } } };
    expect(compileBindings(buildMethod(fields, rule))[0]?.httpMethod).toBe("HEAD");
    const any = { pattern: { case: "custom" as const, value: { kind: "*", path: "/a" } } };
    expect(() => compileBindings(buildMethod(fields, any))).toThrow('custom method "*"');
  });

  test("gives a method without a rule no binding", () => {
    expect(compileBindings(buildMethod(fields, undefined))).toEqual([]);
  });

  test.each([
    ["an unknown path field", get("/{nope}"), "path variable nope is not a field of test.Request"],
    ["a path into a string", get("/{run_id.x}"), "path variable run_id.x is not a field"],
    ["a list in the path", get("/{tags}"), "path variable tags must be a single value"],
    ["a message in the path", get("/{inner}"), "path variable inner must be a single value"],
    ["one field under two names", get("/{run_id}/{runId}"), "two path variables fill the same field"],
    ["an unknown body field", { pattern: { case: "post" as const, value: "/a" }, body: "nope" }, "body field nope"],
    ["a GET with a body", { ...get("/a"), body: "*" }, "GET takes no body"],
    ["an unknown response field", { ...get("/a"), responseBody: "nope" }, "response_body nope"],
    ["no pattern", { body: "*" }, "the rule has no pattern"],
    [
      "nested bindings",
      { ...get("/a"), additionalBindings: [{ ...get("/b"), additionalBindings: [get("/c")] }] },
      "additional_bindings cannot be nested",
    ],
  ])("refuses %s", (_, rule, problem) => {
    expect(() => compileBindings(buildMethod(fields, rule))).toThrow(
      `google.api.http of test.TestService.Call: ${problem}`,
    );
  });

  test("refuses a stream of requests", () => {
    expect(() => compileBindings(buildMethod(fields, get("/a"), { client: true }))).toThrow("stream of requests");
    expect(() => compileBindings(buildMethod(fields, get("/a"), { client: true, server: true }))).toThrow();
  });

  test("refuses a cursor that is no plain field of a stream's request", () => {
    const cursor = [{ name: "after", number: 1, cursor: {} }];
    expect(() => compileBindings(buildMethod(cursor, get("/a")))).toThrow("stream_cursor");
    expect(compileBindings(buildMethod(cursor, get("/a"), { server: true }))).toHaveLength(1);
    const twice = [...cursor, { name: "since", number: 2, cursor: {} }];
    expect(() => compileBindings(buildMethod(twice, get("/a"), { server: true }))).toThrow("stream_cursor");
  });
});
