// How each command is shown to callers.

import { create, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ParsedCommandSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";
import { commandToProto } from "../../../src/protocols/exchange/inbox/to-proto.ts";

test("every command is shown with its effective attributes and its body, and errors keep their places", () => {
  const inbox = [
    ...['[CREATE_FILE Path="a" x="1"]', "[/CREATE_FILE]"],
    ...['[EDIT_FILE path="a" start_line=" +01" end_line="-2"]', "b", "", "[/EDIT_FILE]"],
    ...['[DELETE_FILE path=""]', "[READ_FILE]", '[READ_FILE path="r"]'],
    ...[
      "[RUN_COMMAND]",
      " ls ",
      "[/RUN_COMMAND]",
      "[MESSAGE]",
      "m",
      "[/MESSAGE]",
      "[DONE]",
      "[/DONE]",
      "[RUN_COMMAND]",
    ],
  ];
  const shown = parseInbox(inbox.join("\n")).map((command) =>
    toJson(ParsedCommandSchema, create(ParsedCommandSchema, commandToProto(command)), { useProtoFieldName: true }),
  );
  expect(shown).toEqual([
    { type: "CREATE_FILE", attributes: { path: "a" }, body: "" },
    { type: "EDIT_FILE", attributes: { path: "a", start_line: "1", end_line: "-2" }, body: "b\n" },
    { type: "DELETE_FILE", attributes: { path: "" } },
    { type: "PARSE_ERROR", message: "READ_FILE missing path attribute" },
    { type: "READ_FILE", attributes: { path: "r" } },
    { type: "RUN_COMMAND", attributes: {}, body: "ls" },
    { type: "MESSAGE", attributes: {}, body: "m" },
    { type: "DONE", attributes: {}, body: "" },
    { type: "PARSE_ERROR", message: "RUN_COMMAND missing closing tag" },
  ]);
});
