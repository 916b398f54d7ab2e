// Examples of fields. They come from the name of a field: one term means one thing in the whole contract. A field with an
// example in its rules keeps that one.

import { type DescField, ScalarType } from "@bufbuild/protobuf";

const uuid = "0199f0c2-7d1e-7a4b-9c55-3f1f0e7a2b10";

const examplesByName: Readonly<Record<string, string | number>> = {
  agent_id: "agent-7",
  approval_id: uuid,
  artifact_id: "artifact-1",
  author: "author",
  base_url: "https://host.example/agents",
  binding_id: "support",
  bot_id: "bot-1",
  callback_id: uuid,
  client_id: "billing",
  community_id: uuid,
  content: "The directory has two files.",
  contract_id: uuid,
  conversation_id: "group-42",
  display_name: "Support",
  event_id: "event-1",
  exchange_id: "a1b2c3d4",
  file_key: "file-1",
  handle: "careful-agent",
  idempotency_key: "create-review-42",
  job_id: uuid,
  kb_id: "handbook",
  key_id: uuid,
  kid: "portal-2026",
  message: "Which files are here?",
  mime_type: "image/png",
  model: "gpt-4o-mini",
  page_size: 50,
  query: "How do I reset my password?",
  request_id: "create-review-42",
  run_id: uuid,
  runner: "default",
  runner_id: "plugin:author/name/default",
  session_id: "review-42",
  slug: "agents",
  system_prompt: "You review code.",
  task: "Find the failing test and mend it.",
  thread_id: "thread-1",
  title: "Which model answers fastest?",
  tool_name: "read_file",
  work_dir: "/srv/projects/shop",
  worker_id: "worker-1",
  worker_session_id: uuid,
};

/** Returns the examples of a text or number; an empty object without any. */
export function describeExamples(field: DescField): { examples?: readonly (string | number)[] } {
  const example = examplesByName[field.name];
  const isFitting = field.fieldKind === "scalar" && field.scalar === scalarOf[typeof example];
  return isFitting && example !== undefined ? { examples: [example] } : {};
}

const scalarOf: Readonly<Record<string, ScalarType>> = { string: ScalarType.STRING, number: ScalarType.INT32 };
