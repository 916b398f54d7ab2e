// Examples of fields. They come from the name of a field: one term means one thing in the whole contract. A protocol brings
// those of its own terms. A field with an example in its rules keeps that one.

import { type DescField, ScalarType } from "@bufbuild/protobuf";

const uuid = "0199f0c2-7d1e-7a4b-9c55-3f1f0e7a2b10";

/** Examples by the name of their field. */
export type Examples = Readonly<Record<string, string | number>>;

/** The examples of fields of the core, and of fields that several protocols have. */
export const coreExamples: Examples = {
  agent_id: "agent-7",
  approval_id: uuid,
  artifact_id: "artifact-1",
  author: "author",
  base_url: "https://host.example/agents",
  binding_id: "support",
  callback_id: uuid,
  client_id: "billing",
  content: "The directory has two files.",
  display_name: "Support",
  event_id: "event-1",
  key_id: uuid,
  kid: "portal-2026",
  message: "Which files are here?",
  mime_type: "image/png",
  model: "gpt-4o-mini",
  page_size: 50,
  request_id: "create-review-42",
  run_id: uuid,
  runner_id: "plugin:author/name/default",
  session_id: "review-42",
  system_prompt: "You review code.",
  thread_id: "thread-1",
  title: "Which model answers fastest?",
  tool_name: "read_file",
  work_dir: "/srv/projects/shop",
};

/** Returns the examples of a text or number; an empty object without any. */
export function describeExamples(field: DescField, examples: Examples): { examples?: readonly (string | number)[] } {
  const example = examples[field.name];
  const isFitting = field.fieldKind === "scalar" && field.scalar === scalarOf[typeof example];
  return isFitting && example !== undefined ? { examples: [example] } : {};
}

const scalarOf: Readonly<Record<string, ScalarType>> = { string: ScalarType.STRING, number: ScalarType.INT32 };
