// Messages in the log: fields that the contract marks are hidden at every depth; the rest is readable.

import { create, createFileRegistry, fromJson, type Message, type Registry } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { CreateApiKeyResponseSchema, CreateStreamTicketResponseSchema } from "#gen/runnel/v1/auth_service_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { redactMessage } from "../../src/platform/telemetry/redact.ts";

test("keys and tickets are hidden, and fields beside them are not", () => {
  const key = create(CreateApiKeyResponseSchema, { key: "rk_shown-once", apiKey: { displayName: "laptop" } });
  expect(redactMessage(key)).toEqual({ key: "[redacted]", api_key: { display_name: "laptop" } });
  const ticket = create(CreateStreamTicketResponseSchema, { ticket: "rt_shown-once" });
  expect(redactMessage(ticket)).toEqual({ ticket: "[redacted]" });
});

test("numbers, enums and members of a oneof are readable; of bytes only the number is", () => {
  const result = create(RunResultSchema, {
    sequence: 7n,
    payload: { case: "runFailed", value: { code: "cancelled", turns: 2 } },
  });
  expect(redactMessage(result)).toEqual({ sequence: "7", run_failed: { code: "cancelled", turns: 2 } });
});

test("marked fields of any type are hidden in nested messages, lists, maps and members of a oneof", () => {
  const { registry, message } = nested();
  expect(redactMessage(message, registry)).toEqual({
    secret_text: "[redacted]",
    secret_number: "[redacted]",
    secret_bytes: "[redacted]",
    secret_list: "[redacted]",
    secret_message: "[redacted]",
    plain: "seen",
    plain_bytes: "3 bytes",
    child: { secret_text: "[redacted]", plain: "seen too", child: { secret_text: "[redacted]" } },
    children: [{ secret_text: "[redacted]" }, { plain: "third" }],
    by_name: { one: { secret_text: "[redacted]" } },
    secret_choice: "[redacted]",
  });
});

test("a message that is not in the contract is hidden as a whole", () => {
  expect(redactMessage(nested().message)).toBe("[redacted]");
});

/** A message with a marked field of every kind, in a registry that is made here. */
function nested(): { registry: Registry; message: Message } {
  const marked = { debugRedact: true };
  const optional = "LABEL_OPTIONAL";
  const repeated = "LABEL_REPEATED";
  const node = ".test.Node";
  const fields = [
    { name: "secret_text", type: "TYPE_STRING", label: optional, options: marked },
    { name: "secret_number", type: "TYPE_INT64", label: optional, options: marked },
    { name: "secret_bytes", type: "TYPE_BYTES", label: optional, options: marked },
    { name: "secret_list", type: "TYPE_STRING", label: repeated, options: marked },
    { name: "secret_message", type: "TYPE_MESSAGE", typeName: node, label: optional, options: marked },
    { name: "plain", type: "TYPE_STRING", label: optional },
    { name: "plain_bytes", type: "TYPE_BYTES", label: optional },
    { name: "child", type: "TYPE_MESSAGE", typeName: node, label: optional },
    { name: "children", type: "TYPE_MESSAGE", typeName: node, label: repeated },
    { name: "by_name", type: "TYPE_MESSAGE", typeName: `${node}.ByNameEntry`, label: repeated },
    { name: "secret_choice", type: "TYPE_STRING", label: optional, options: marked, oneofIndex: 0 },
    { name: "plain_choice", type: "TYPE_STRING", label: optional, oneofIndex: 0 },
  ].map((field, index) => ({ ...field, number: index + 1, jsonName: field.name }));
  const entry = {
    name: "ByNameEntry",
    options: { mapEntry: true },
    field: [
      { name: "key", number: 1, type: "TYPE_STRING", label: optional },
      { name: "value", number: 2, type: "TYPE_MESSAGE", typeName: node, label: optional },
    ],
  };
  const set = fromJson(FileDescriptorSetSchema, {
    file: [
      {
        name: "test.proto",
        package: "test",
        syntax: "proto3",
        messageType: [{ name: "Node", field: fields, nestedType: [entry], oneofDecl: [{ name: "choice" }] }],
      },
    ],
  });
  const registry = createFileRegistry(set);
  const schema = registry.getMessage("test.Node");
  if (schema === undefined) {
    throw new Error("the registry lacks what it was made of");
  }
  const hidden = "hidden-hidden";
  const message = fromJson(
    schema,
    {
      secret_text: hidden,
      secret_number: "77",
      secret_bytes: "AAEC",
      secret_list: [hidden],
      secret_message: { plain: hidden },
      plain: "seen",
      plain_bytes: "AAEC",
      child: { secret_text: hidden, plain: "seen too", child: { secret_text: hidden } },
      children: [{ secret_text: hidden }, { plain: "third" }],
      by_name: { one: { secret_text: hidden } },
      secret_choice: hidden,
    },
    { registry },
  );
  return { registry, message };
}
