// Writes a run as a file: JSON, Markdown, or an HTML page that needs nothing else. Commands and the console make the same files.
//
// E1  The page has no script, and its policy forbids scripts and everything from elsewhere. Text of models, tools and callers is text.
// E2  What a restarted turn has made void is left out of the page and of Markdown. JSON has every entry.

import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Citation, type ContentElement, type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { type Run, RunSchema } from "#gen/runnel/v1/run_pb.js";
import { type Agent, AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { describePart, textOf } from "./entry.ts";
import type { Row } from "./row.ts";
import { stateNames } from "./state-names.ts";
import { Transcript } from "./transcript.ts";

/** A run with what it was started with, and its log so far. */
export interface ExportedRun {
  readonly run: Run;
  readonly messages: readonly Message[];
  readonly agent: Agent | undefined;
  readonly entries: readonly RunResult[];
}

/** A file with its type. */
export interface ExportFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** The formats of a file. */
export const exportFormats = ["md", "html", "json"] as const;

export type ExportFormat = (typeof exportFormats)[number];

/** Returns a run as a file. */
export function exportRun(format: ExportFormat, exported: ExportedRun): ExportFile {
  const write = { md: toMarkdown, html: toHtml, json: toJsonText } as const;
  const types = { md: "text/markdown", html: "text/html", json: "application/json" } as const;
  return { name: `run-${exported.run.runId}.${format}`, type: types[format], text: write[format](exported) };
}

function toJsonText({ run, messages, agent, entries }: ExportedRun): string {
  const print = <Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>) =>
    toJson(schema, message, { useProtoFieldName: true });
  const json = {
    run: print(RunSchema, run),
    messages: messages.map((message) => print(MessageSchema, message)),
    ...(agent && { agent: print(AgentSchema, agent) }),
    results: entries.map((entry) => print(RunResultSchema, entry)),
  };
  return `${JSON.stringify(json, undefined, 2)}\n`;
}

/** A part of the document. */
type Block =
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "text"; readonly who: string; readonly text: string }
  | { readonly kind: "code"; readonly title: string; readonly text: string }
  | { readonly kind: "image"; readonly name: string; readonly url: string };

function* blocksOf({ messages, entries }: ExportedRun): Generator<Block> {
  yield { kind: "heading", text: "Input" };
  for (const message of messages) {
    yield* blocksOfMessage(message);
  }
  const transcript = new Transcript();
  for (const entry of entries) {
    transcript.add(entry);
  }
  yield { kind: "heading", text: "Run" };
  for (const row of transcript.rows.filter(({ isVoid }) => !isVoid)) {
    yield* blocksOfRow(row);
  }
}

function* blocksOfMessage(message: Message): Generator<Block> {
  if (message.content.case !== "parts") {
    yield { kind: "text", who: message.role, text: textOf(message) };
    return;
  }
  for (const part of message.content.value.elements) {
    const url = imageUrlOf(part);
    yield url === undefined
      ? { kind: "text", who: message.role, text: describePart(part) }
      : { kind: "image", name: part.fileName ?? "image", url };
  }
}

function* blocksOfRow({ content }: Row): Generator<Block> {
  switch (content.kind) {
    case "turn":
      yield { kind: "heading", text: `Turn ${content.turn}` };
      break;
    case "message":
      yield { kind: "text", who: content.role, text: content.text };
      break;
    case "sources":
      yield { kind: "text", who: "sources", text: content.citations.map(describeSource).join("\n") };
      break;
    case "reasoning":
      yield { kind: "text", who: "reasoning", text: content.text };
      break;
    case "tool":
      yield { kind: "code", title: `Call of ${content.name}`, text: content.parameters };
      if (content.result !== undefined || content.error !== undefined) {
        const hasFailed = content.error !== undefined && content.error !== "";
        const [title, text] = hasFailed ? ["Error", content.error] : ["Result", content.result];
        yield { kind: "code", title: `${title} of ${content.name}`, text: text ?? "" };
      }
      break;
    case "waiting":
      yield { kind: "text", who: "waiting", text: content.value.reason };
      break;
    case "failed":
      yield { kind: "text", who: content.value.code, text: content.value.error };
      break;
    case "purged":
      yield { kind: "text", who: "purged", text: `${content.what}, SHA-256 ${content.sha256}` };
      break;
    default:
      // The other rows say nothing that the facts of the run and its calls do not say.
      break;
  }
}

function describeSource({ url, title, text }: Citation): string {
  return [title, url, text].filter((part) => part !== "").join(" · ");
}

function factsOf({ run, entries }: ExportedRun): readonly (readonly [name: string, value: string])[] {
  const { usage } = run;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["state", stateNames[run.state] ?? "unknown"],
    ["agent", run.agentName],
    ["model", run.model],
    ["session", run.sessionId],
    ["created", run.createTime && timestampDate(run.createTime).toISOString()],
    ["ended", run.endTime && timestampDate(run.endTime).toISOString()],
    ["turns", String(run.turns)],
    ["input tokens", usage?.promptTokens?.toString()],
    ["output tokens", usage?.completionTokens?.toString()],
    ["cost in US dollars", usage?.costMicroUsd === undefined ? undefined : String(Number(usage.costMicroUsd) / 1e6)],
    ["failure", run.failureCode === "" ? undefined : `${run.failureCode} ${run.error}`],
    ["entries of the log", String(entries.length)],
  ];
  return facts.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value] as const]));
}

function toMarkdown(exported: ExportedRun): string {
  const facts = factsOf(exported).map(([name, value]) => `* ${name}: ${codeSpan(value)}`);
  const blocks = [...blocksOf(exported)].map(blockToMarkdown);
  return `${[`# Run ${exported.run.runId}`, facts.join("\n"), ...blocks].join("\n\n")}\n`;
}

function blockToMarkdown(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `## ${block.text}`;
    case "text":
      // Quoted, so that a text has no heading or rule of the document.
      return `**${escapeMarkdown(block.who)}**\n\n${block.text.replace(/^/gm, "> ")}`;
    case "code": {
      const fence = fenceFor(block.text);
      return `**${escapeMarkdown(block.title)}**\n\n${fence}\n${block.text.replace(/\n$/, "")}\n${fence}`;
    }
    case "image":
      return `![${escapeMarkdown(block.name)}](${block.url})`;
    default:
      return block satisfies never;
  }
}

/** Returns a fence that the text does not contain. */
function fenceFor(text: string): string {
  return "`".repeat(Math.max(3, 1 + longestOf(text.match(/`+/g))));
}

function codeSpan(text: string): string {
  const oneLine = text.replace(/\s+/g, " ");
  const ticks = "`".repeat(1 + longestOf(oneLine.match(/`+/g)));
  return `${ticks} ${oneLine} ${ticks}`;
}

function longestOf(runs: readonly string[] | null): number {
  return (runs ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]()<>#|!]/g, "\\$&");
}

const style = `:root{color-scheme:light dark}body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:15px/1.5 system-ui,sans-serif}
pre{padding:.75rem;border:1px solid #8886;border-radius:6px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:auto 1fr;gap:.2rem 1rem}dt{opacity:.7}dd{margin:0;overflow-wrap:anywhere}
h3{margin-bottom:.2rem;font-size:1rem}.text{border:0;padding:0;font:inherit}img{max-width:100%}`;

function toHtml(exported: ExportedRun): string {
  const title = `Run ${escapeHtml(exported.run.runId)}`;
  const facts = factsOf(exported).map(
    ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd dir="auto">${escapeHtml(value)}</dd>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<dl>${facts.join("")}</dl>
${[...blocksOf(exported)].map(blockToHtml).join("\n")}
</main>
</body>
</html>
`;
}

function blockToHtml(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `<h2>${escapeHtml(block.text)}</h2>`;
    case "text":
      return `<h3 dir="auto">${escapeHtml(block.who)}</h3>\n<pre class="text" dir="auto">${escapeHtml(block.text)}</pre>`;
    case "code":
      return `<h3 dir="auto">${escapeHtml(block.title)}</h3>\n<pre tabindex="0" dir="auto">${escapeHtml(block.text)}</pre>`;
    case "image":
      return `<figure><img src="${escapeHtml(block.url)}" alt="${escapeHtml(block.name)}"></figure>`;
    default:
      return block satisfies never;
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** How the base64 of each format begins. Others may have scripts. */
const imageTypes: readonly (readonly [start: string, type: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

/** Returns an image of a message as a `data:` URL, by its first bytes; undefined for anything else. */
function imageUrlOf({ imageBase64 = "" }: ContentElement): string | undefined {
  // Some callers send the image as a `data:` URL.
  const base64 = imageBase64.startsWith("data:") ? imageBase64.slice(imageBase64.indexOf(",") + 1) : imageBase64;
  const [, type] = imageTypes.find(([start]) => base64.startsWith(start)) ?? [];
  return type === undefined || !/^[A-Za-z0-9+/=]+$/.test(base64) ? undefined : `data:${type};base64,${base64}`;
}
