// Writes the call of a draft in a language. Every text of a person is quoted as that language needs it.

import { toJson } from "@bufbuild/protobuf";
import { type ContentElement, ContentPartsSchema, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { Draft } from "./draft.ts";
import { nameOf, withFiles } from "./files.ts";
import { askingOf, microUsdOf } from "./settings.ts";

export const languages = {
  curl: "curl",
  grpc: "gRPC",
  typescript: "TypeScript",
  python: "Python",
  go: "Go",
  openai: "OpenAI",
} as const;

export type Language = keyof typeof languages;

/** Returns lines that start the run of a draft. `url` is the address of the service. */
export function writeCall(language: Language, draft: Draft, url: string): string {
  return writers[language](draft, url);
}

const writers: Readonly<Record<Language, (draft: Draft, url: string) => string>> = {
  curl: (draft, url) => `url=${url}
id=$(curl -sS $url/v1/sessions -d ${shell(json(sessionOf(draft, asJson)))} | sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/')
curl -sS $url/v1/sessions/$id/messages -d ${shell(json(messageOf(draft, asJson)))}
curl -sSN $url/v1/sessions/$id/stream`,
  grpc: (draft, url) => {
    const { host, protocol } = new URL(url);
    const call = `grpcurl${protocol === "https:" ? "" : " -plaintext"}`;
    return `id=$(${call} -d ${shell(json(sessionOf(draft)))} ${host} \\
  runnel.v1.SessionService/CreateSession | sed -n 's/.*"sessionId": "\\(.*\\)".*/\\1/p')
run=$(${call} -d "$(printf '{"session_id":"%s",%s}' "$id" ${shell(json(messageOf(draft)).slice(1, -1))})" ${host} \\
  runnel.v1.SessionService/SendMessage | sed -n 's/.*"runId": "\\(.*\\)".*/\\1/p')
${call} -d "{\\"run_id\\":\\"$run\\"}" ${host} runnel.v1.RunService/TailRun`;
  },
  typescript: (
    draft,
    url,
  ) => `${draft.startTime === "" ? "" : 'import { timestampFromDate } from "@bufbuild/protobuf/wkt";\n'}import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { RunService } from "runnel/gen/runnel/v1/run_service_pb.js";
import { SessionService } from "runnel/gen/runnel/v1/session_service_pb.js";

const transport = createGrpcTransport({ baseUrl: ${json(url)} });
const sessions = createClient(SessionService, transport);
const { sessionId } = await sessions.createSession(${withBigints(json(camel(sessionOf(draft)), 2))});
const { runId } = await sessions.sendMessage({ sessionId, ${typescriptMessage(draft)} });
for await (const { results } of createClient(RunService, transport).tailRun({ runId })) {
  for (const { payload } of results) {
    if (payload.case === "messageDelta") {
      process.stdout.write(payload.value.chunk?.content ?? "");
    }
  }
}`,
  python: (draft, url) => `import sys
${draft.startTime === "" ? "" : "from datetime import datetime\n"}import grpc

sys.path += ["proto", "third_party"]
session_pb2, session_grpc = grpc.protos_and_services("runnel/v1/session_service.proto")
run_pb2, run_grpc = grpc.protos_and_services("runnel/v1/run_service.proto")

channel = ${channelOf(url)}
sessions = session_grpc.SessionServiceStub(channel)
session = sessions.CreateSession(session_pb2.CreateSessionRequest(**${json(sessionOf(draft), 4)}))
run = sessions.SendMessage(session_pb2.SendMessageRequest(session_id=session.session_id, ${pythonMessage(draft)}))
for response in run_grpc.RunServiceStub(channel).TailRun(run_pb2.TailRunRequest(run_id=run.run_id)):
    for result in response.results:
        print(result.message_delta.chunk.content, end="", flush=True)`,
  go: (
    draft,
    url,
  ) => `conn, err := grpc.NewClient(${json(new URL(url).host)}, grpc.WithTransportCredentials(insecure.NewCredentials()))
if err != nil {
	log.Fatal(err)
}
sessions, runs := runnel.NewSessionServiceClient(conn), runnel.NewRunServiceClient(conn)
request := &runnel.CreateSessionRequest{}
if err := protojson.Unmarshal([]byte(${json(json(sessionOf(draft)))}), request); err != nil {
	log.Fatal(err)
}
session, err := sessions.CreateSession(ctx, request)
if err != nil {
	log.Fatal(err)
}
${goMessage(draft)}
if err != nil {
	log.Fatal(err)
}
stream, err := runs.TailRun(ctx, &runnel.TailRunRequest{RunId: run.RunId})
for err == nil {
	var response *runnel.TailRunResponse
	if response, err = stream.Recv(); err == nil {
		for _, result := range response.Results {
			fmt.Print(result.GetMessageDelta().GetChunk().GetContent())
		}
	}
}`,
  openai: (draft, url) => `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${json(`${url}/v1`)}, apiKey: process.env.RUNNEL_KEY });
const stream = await client.responses.create(${json(
    {
      model: draft.model === "" ? "demo" : draft.model,
      input: openaiInput(draft),
      ...(draft.systemPrompt !== "" && { instructions: draft.systemPrompt }),
      ...(draft.tools.length > 0 && {
        tools: [{ type: "mcp", server_label: "runnel", allowed_tools: draft.tools }],
      }),
      ...(Number.isFinite(Number.parseFloat(draft.temperature)) && {
        temperature: Number.parseFloat(draft.temperature),
      }),
      ...(Number(draft.maxTokens) > 0 && { max_output_tokens: Number(draft.maxTokens) }),
      ...(draft.format !== "text" && { text: { format: openaiFormat(draft) } }),
      ...(draft.workDir !== "" && { metadata: { "runnel.work_dir": draft.workDir } }),
      stream: true,
    },
    2,
  )});
for await (const event of stream) {
  if (event.type === "response.output_text.delta") {
    process.stdout.write(event.delta);
  }
}`,
};

/** Texts that hold JSON: REST has them as they are, and every other call as a text. */
type Raw = (text: string) => unknown;

const asText: Raw = (text) => text;
const asJson: Raw = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** The body of CreateSession, with the contract's names. */
function sessionOf(draft: Draft, raw = asText): object {
  const { name, preset, model, systemPrompt, tools, workDir, fork, forkCount } = draft;
  const approve = askingOf(draft);
  return {
    agent: {
      ...(name !== "" && { name }),
      ...(model !== "" && { model }),
      ...(systemPrompt !== "" && { system_prompt: systemPrompt }),
      ...(tools.length > 0 && { tools: { builtin: tools, ...(approve.length > 0 && { approve }) } }),
      ...agentSettings(draft, raw),
    },
    ...(preset !== "" && { preset }),
    ...(workDir !== "" && { work_dir: workDir }),
    ...(fork !== "" && { fork: { session_id: fork, ...(forkCount > 0 && { message_count: forkCount }) } }),
  };
}

function agentSettings(draft: Draft, raw: Raw): object {
  const { format, schema } = draft;
  const temperature = Number.parseFloat(draft.temperature);
  const [turns = 0, maxTokens = 0, tokens = 0] = [draft.maxTurns, draft.maxTokens, draft.budgetTokens].map(Number);
  const micros = microUsdOf(draft);
  return {
    ...(turns > 0 && { max_turns: turns }),
    ...(maxTokens > 0 && { max_tokens: maxTokens }),
    ...(Number.isFinite(temperature) && { temperature }),
    ...((tokens > 0 || micros > 0) && {
      budget: { ...(tokens > 0 && { tokens }), ...(micros > 0 && { cost_micro_usd: micros }) },
    }),
    ...(format !== "text" && { response_format: format === "json" ? {} : { schema: raw(schema) } }),
  };
}

/** The message of SendMessage, with the contract's names. */
function messageOf(draft: Draft, raw = asText): Readonly<Record<string, unknown>> {
  const { message, files, annotations } = draft;
  return {
    ...(files.length === 0
      ? { message }
      : { messages: [toJson(MessageSchema, withFiles(message, files.map(shorten)), { useProtoFieldName: true })] }),
    ...(annotations !== "" && { annotations: raw(annotations) }),
    ...(draft.startTime !== "" && { start_time: startOf(draft) }),
  };
}

/** Example: `2026-08-01T07:30:00.000Z`. */
function startOf({ startTime }: Draft): string {
  return new Date(startTime).toISOString();
}

/** The bytes of a file would make the lines unreadable. */
function shorten(file: ContentElement): ContentElement {
  const cut = (url: string | undefined): string | undefined =>
    url?.replace(/(?<=,|^)[^,]*$/, `<base64 of ${nameOf(file)}>`);
  return {
    ...file,
    ...(file.imageBase64 !== undefined && { imageBase64: cut(file.imageBase64) }),
    ...(file.fileBase64 !== undefined && { fileBase64: cut(file.fileBase64) }),
  };
}

function typescriptMessage(draft: Draft): string {
  const { message, files, annotations } = draft;
  const parts = [files.length === 0 ? `message: ${json(message)}` : `messages: [${typescriptParts(draft)}]`];
  if (annotations !== "") {
    parts.push(`annotations: ${json(annotations)}`);
  }
  if (draft.startTime !== "") {
    parts.push(`startTime: timestampFromDate(new Date(${json(startOf(draft))}))`);
  }
  return parts.join(", ");
}

function typescriptParts({ message, files }: Draft): string {
  const { content } = withFiles(message, files.map(shorten));
  const value = content.case === "parts" ? toJson(ContentPartsSchema, content.value) : {};
  return `{ role: "user", content: { case: "parts", value: ${json(value)} } }`;
}

/** The numbers of a budget have 64 bits. A quote within a text has a backslash before it, so texts stay as they are. */
function withBigints(lines: string): string {
  return lines.replace(/(?<!\\)("(?:tokens|costMicroUsd)": \d+)/g, "$1n");
}

function pythonMessage(draft: Draft): string {
  return Object.entries(messageOf(draft))
    .map(([name, value]) => `${name}=${name === "start_time" ? `datetime.fromisoformat(${json(value)})` : json(value)}`)
    .join(", ");
}

function goMessage(draft: Draft): string {
  const fields = messageOf(draft);
  if (Object.keys(fields).join() === "message") {
    return `run, err := sessions.SendMessage(ctx, &runnel.SendMessageRequest{SessionId: session.SessionId, Message: ${json(draft.message)}})`;
  }
  return `message := &runnel.SendMessageRequest{}
if err := protojson.Unmarshal([]byte(${json(json(fields))}), message); err != nil {
	log.Fatal(err)
}
message.SessionId = session.SessionId
run, err := sessions.SendMessage(ctx, message)`;
}

/** What OpenAI's API takes: the text, or a message with parts. */
function openaiInput({ message, files }: Draft): unknown {
  if (files.length === 0) {
    return message;
  }
  const parts = files
    .map(shorten)
    .map(({ imageBase64, imageUrl, fileBase64, fileUrl, fileName }) =>
      imageBase64 === undefined && imageUrl === undefined
        ? { type: "input_file", filename: fileName, file_data: fileBase64, file_url: fileUrl }
        : { type: "input_image", image_url: imageBase64 ?? imageUrl },
    );
  return [{ role: "user", content: [{ type: "input_text", text: message }, ...parts] }];
}

function openaiFormat({ format, schema }: Draft): object {
  return format === "json" ? { type: "json_object" } : { type: "json_schema", name: "answer", schema: asJson(schema) };
}

function channelOf(url: string): string {
  const { host, protocol } = new URL(url);
  return protocol === "https:"
    ? `grpc.secure_channel(${json(host)}, grpc.ssl_channel_credentials())`
    : `grpc.insecure_channel(${json(host)})`;
}

/** Turns the names of a message into those of TypeScript. */
function camel(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(camel);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      camel(each),
    ]),
  );
}

/** JSON is valid in each of these languages: the drafts have texts, numbers and lists only. */
function json(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent);
}

function shell(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
