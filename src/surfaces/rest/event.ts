// Converts response messages of a server stream to SSE events, by their descriptors. Either the message is the event
// (StreamSession), or it carries a list of events (TailRun). A message without events is a heartbeat.

import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  type Message,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { event, type RestProfile, rest, result, sse } from "#gen/runnel/options/v1/options_pb.js";
import { type Extension, ExtensionSchema } from "#gen/runnel/v1/result_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import { printMessage, styleJson } from "../../platform/base/json/print.ts";
import type { SseEvent } from "./sse.ts";

/** Reads the SSE events of response messages. */
export interface EventReader {
  /** True when the messages of the stream say how it ended. False when its SSE form needs a closing event after a good end, too. */
  readonly endsItself: boolean;
  /** Returns the events in one response message. */
  read(message: Message): SseEvent[];
}

/** Compiles the reader for a method. Throws Fault CONFIG_INVALID when its responses cannot become events. */
export function compileEventReader(method: DescMethod): EventReader {
  const { output } = method;
  const profile = getOption(method.parent, rest);
  if (hasOption(output, sse)) {
    const shape = compileEventShape(output, profile);
    return { endsItself: shape.memberOnly, read: (message) => readSingle(shape, reflect(output, message, false)) };
  }
  const [field, ...others] = output.fields.filter((candidate) => candidate.fieldKind === "list");
  if (field?.message === undefined || others.length > 0 || !hasOption(field.message, sse)) {
    throw new Fault("CONFIG_INVALID", `${output.typeName} has neither the sse option nor one list of events`);
  }
  const shape = compileEventShape(field.message, profile);
  return {
    endsItself: shape.memberOnly,
    read: (message) =>
      [...reflect(output, message, false).get(field)].map((item) => readEvent(shape, item as ReflectMessage)),
  };
}

interface EventShape {
  readonly desc: DescMessage;
  readonly oneof: DescMessage["oneofs"][number];
  /** Undefined when a reader cannot resume after an event. */
  readonly idField: DescField | undefined;
  readonly memberOnly: boolean;
  readonly profile: RestProfile;
  /** The event name of each member. Cached: reading options is slow, and every event needs its name. */
  readonly names: ReadonlyMap<DescField, string>;
}

/** The name of an event whose payload is unknown to this version. The reader still needs its position in the log. */
const unknownType = "unknown";

function compileEventShape(desc: DescMessage, profile: RestProfile): EventShape {
  const { idField: idName, memberOnly } = getOption(desc, sse);
  const idField = desc.fields.find((field) => field.name === idName);
  const [oneof, ...others] = desc.oneofs;
  const hasId = idName === "" || idField?.fieldKind === "scalar";
  if (!hasId || oneof === undefined || others.length > 0) {
    throw new Fault(
      "CONFIG_INVALID",
      `${desc.typeName}: an event must have exactly one oneof and at most one plain id field`,
    );
  }
  const names = new Map(oneof.fields.map((member) => [member, nameOf(member)]));
  for (const [member, name] of names) {
    if (name === "" || member.message === undefined) {
      throw new Fault("CONFIG_INVALID", `${member.toString()}: an event is a message and needs a name`);
    }
  }
  return { desc, oneof, idField, memberOnly, profile, names };
}

function readSingle(shape: EventShape, message: ReflectMessage): SseEvent[] {
  return message.oneofCase(shape.oneof) === undefined ? [] : [readEvent(shape, message)];
}

function readEvent(shape: EventShape, message: ReflectMessage): SseEvent {
  const { oneof, idField, memberOnly } = shape;
  const member = message.oneofCase(oneof);
  const id = idField !== undefined && message.isSet(idField) ? String(message.get(idField)) : "";
  if (member?.message === undefined) {
    return { id, type: unknownType, data: printData(shape, message) };
  }
  const payload = message.get(member) as ReflectMessage;
  return { id, type: typeOf(shape, member, payload), data: printData(shape, memberOnly ? payload : message) };
}

function printData({ profile }: EventShape, { desc, message }: ReflectMessage): string {
  return styleJson(printMessage(desc, message), profile);
}

function typeOf({ names }: EventShape, member: DescField, payload: ReflectMessage): string {
  // An extension has its own event type and carries the name.
  const ownType = payload.desc.typeName === ExtensionSchema.typeName ? (payload.message as Extension).type : "";
  return ownType === "" ? (names.get(member) ?? unknownType) : ownType;
}

function nameOf(member: DescField): string {
  return hasOption(member, event) ? getOption(member, event) : getOption(member, result).name;
}
