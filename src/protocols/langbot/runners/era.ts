// The eras of the protocol, and the context of a run as JSON for each. An SDK refuses a whole context because of one unknown
// word, so each gets only what it can read.

import { clone } from "@bufbuild/protobuf";
import {
  type AgentRunContext,
  AgentRunContextSchema,
  type ContextApis,
} from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import { type JsonObject, memberOf, parseFreeObject } from "../../../platform/base/json/free.ts";
import { printMessage } from "../../../platform/base/json/print.ts";
import { compactJson } from "../../../platform/base/json/text.ts";

/** The eras: the document, the first SDK with a ledger of runs, and the SDK of 4.11. */
export const eras = ["spec", "ledger", "4.11"] as const;
/** An era of the protocol. */
export type Era = (typeof eras)[number];

/** Whether the text names an era. */
export function isEra(text: string): text is Era {
  return (eras as readonly string[]).includes(text);
}

/** Prints the whole context on one line. Numbers and free JSON stay as they were written. */
export function printContext(context: AgentRunContext, era: Era): string {
  const shaped = clone(AgentRunContextSchema, context);
  shapers[era](shaped);
  return printMessage(AgentRunContextSchema, shaped);
}

const shapers = {
  spec: (context) => {
    shapeForRefs(context);
    setApis(context, { runGet: false });
  },
  ledger: shapeForRefs,
  "4.11": (context) => {
    setApis(context, { artifactMetadata: false, artifactRead: false });
    if (context.resources !== undefined) {
      context.resources.files = [];
    }
    mapAttachments(context, toInputAttachment);
  },
} as const satisfies Record<Era, (context: AgentRunContext) => void>;

/** Applies what both eras with artifacts have in common. */
function shapeForRefs(context: AgentRunContext): void {
  for (const model of context.resources?.models ?? []) {
    model.operations = model.operations.filter((operation) => operation !== "count_tokens");
  }
  for (const tool of context.resources?.tools ?? []) {
    delete tool.parameters;
  }
  mapAttachments(context, toArtifactRef);
}

function setApis({ context }: AgentRunContext, apis: Partial<Pick<ContextApis, BooleanApi>>): void {
  Object.assign(context?.availableApis ?? {}, apis);
}

type BooleanApi = "runGet" | "artifactMetadata" | "artifactRead";

function mapAttachments({ input }: AgentRunContext, shape: (json: string, index: number) => string): void {
  if (input !== undefined) {
    input.attachments = input.attachments.map(shape);
  }
}

/**
 * Prints an ArtifactRef, which must have an id: the platform's own, or `attachment-1` by its position, which names no artifact.
 */
function toArtifactRef(json: string, index: number): string {
  const node = parseFreeObject(json);
  if (memberOf(node, "artifact_id")?.kind === "string") {
    return json;
  }
  const own = memberOf(node, "id");
  const id = own?.kind === "string" ? json.slice(own.start, own.end) : `"attachment-${index + 1}"`;
  const names = renaming(node, { type: "artifact_type" });
  return objectOf([
    `"artifact_id":${id}`,
    ...printMembers(json, node, (key) => (key === "artifact_id" ? undefined : names(key))),
  ]);
}

/** Prints an InputAttachment, which has no keys but these. */
function toInputAttachment(json: string): string {
  const node = parseFreeObject(json);
  const names = renaming(node, { artifact_type: "type", artifact_id: "id" });
  return objectOf(
    printMembers(json, node, (key) => {
      const name = names(key);
      return inputAttachmentKeys.includes(name) ? name : undefined;
    }),
  );
}

const inputAttachmentKeys: readonly string[] = [
  "type",
  "mime_type",
  "size",
  "name",
  "source",
  "url",
  "path",
  "content",
  "id",
];

/** Returns the new name of a key, unless another member has that name already. */
function renaming(node: JsonObject, names: Readonly<Record<string, string>>): (key: string) => string {
  const free = new Map(Object.entries(names).filter(([, name]) => memberOf(node, name) === undefined));
  return (key) => free.get(key) ?? key;
}

/** Prints members with their values as they were written. Members without a name are left out. */
function printMembers(json: string, node: JsonObject, nameOf: (key: string) => string | undefined): string[] {
  return node.members.flatMap(({ key, value }) => {
    const name = nameOf(key.value);
    return name === undefined ? [] : [`${JSON.stringify(name)}:${compactJson(json, value)}`];
  });
}

function objectOf(members: readonly string[]): string {
  return `{${members.join(",")}}`;
}
