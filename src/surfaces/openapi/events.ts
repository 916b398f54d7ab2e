// The server-sent events of a stream. OpenAPI 3.1 has no term for them: the description lists the events and their payloads,
// and `x-sse-events` holds them for programs.

import { type DescField, type DescMessage, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { event, result, sse } from "#gen/runnel/options/v1/options_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import type { Schema } from "./json-schema.ts";
import type { Schemas } from "./schema.ts";

/** Returns the content of a stream's answer. `errorBody` is the schema of the closing event of a failed stream. */
export function describeEventStream(method: DescMethod, schemas: Schemas, errorBody: Schema): object {
  const desc = findEventMessage(method);
  const { idField, memberOnly } = getOption(desc, sse);
  const members = desc.oneofs
    .flatMap(({ fields }) => fields)
    .map((member) => [nameOf(member), memberOnly ? (member.message ?? desc) : desc] as const);
  const closing = memberOnly ? {} : { end: { type: "object" }, error: errorBody };
  const description = [
    idField === ""
      ? "Server-sent events."
      : `Server-sent events. \`id:\` is the field \`${idField}\`: send it as \`Last-Event-ID\` to continue after it.`,
    "Comments keep the stream alive. The events and their data:",
    "",
    ...members.map(([name, payload]) => `- \`${name}\`: \`${schemas.nameOf(payload)}\``),
    ...(memberOnly
      ? []
      : ["- `end`: `{}`, when everything was sent", "- `error`: an error, when the stream broke off"]),
  ].join("\n");
  const events = members.map(([name, payload]) => [name, schemas.refer(payload)] as const);
  return {
    "text/event-stream": {
      schema: { type: "string", description },
      "x-sse-events": { ...Object.fromEntries(events), ...closing },
    },
  };
}

/** Returns the message of an event: the response itself, or the item of its list. Throws Fault CONFIG_INVALID for neither. */
function findEventMessage({ output }: DescMethod): DescMessage {
  const listed = output.fields.find(({ fieldKind }) => fieldKind === "list")?.message;
  const desc = hasOption(output, sse) ? output : listed;
  if (desc === undefined || !hasOption(desc, sse)) {
    throw new Fault("CONFIG_INVALID", `${output.typeName} has neither the sse option nor a list of events`);
  }
  return desc;
}

function nameOf(member: DescField): string {
  return hasOption(member, event) ? getOption(member, event) : getOption(member, result).name;
}
