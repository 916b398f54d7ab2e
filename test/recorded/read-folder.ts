// Finds recorded streams in a folder: `*.chunks.txt` with one JSON frame a line, as in vercel/ai, and VCR cassettes `*.yaml`, as in
// pydantic/pydantic-ai.

import { glob, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { parse } from "yaml";
import { at, listAt, textAt } from "./exact-json.ts";
import {
  type Api,
  findApi,
  type LeftOut,
  type RecordedEvent,
  type Recording,
  readEvent,
  splitStreams,
} from "./recording.ts";

type Streams = readonly (Recording | LeftOut)[];

/**
 * Returns the streams of a folder in the order of their paths, those whose path contains the text.
 * @throws Error when there is no stream.
 */
export async function readFolder(folder: string, text: string): Promise<Streams> {
  const paths = await Array.fromAsync(glob("**/*.{chunks.txt,yaml}", { cwd: folder }));
  const wanted = paths.map((path) => path.split(sep).join("/")).filter((path) => path.includes(text));
  const streams: (Recording | LeftOut)[] = [];
  for (const path of wanted.sort()) {
    const content = await readFile(join(folder, path), "utf8");
    streams.push(...(path.endsWith(".yaml") ? readCassette(path, content) : readChunks(path, content)));
  }
  if (streams.length === 0) {
    throw new Error(`${folder} has no recorded streams: give a folder with *.chunks.txt files or *.yaml cassettes`);
  }
  return streams;
}

function readChunks(path: string, content: string): Streams {
  const provider = /(?:^|\/)packages\/([^/]+)\//.exec(path)?.[1] ?? path.split("/", 1).join();
  const lines = content.split(/\r?\n/).filter((line) => line.trim() !== "");
  const events = lines.map((line) => readEvent(line));
  const api = findApi(events, "");
  if (api === undefined) {
    return [{ path, provider, why: describeOther(events) }];
  }
  const streams = splitStreams(events);
  return streams.map((stream, index) => {
    const whole = api === "Chat Completions" ? [...stream, readEvent("[DONE]")] : stream;
    const number = streams.length === 1 ? "" : `#${index + 1}`;
    return { path: path + number, provider, api, body: writeBody(api, whole), events: whole };
  });
}

function writeBody(api: Api, events: readonly RecordedEvent[]): string {
  const hasNames = api === "Responses" || api === "Messages";
  const nameOf = ({ name }: RecordedEvent): string => (hasNames && name !== "" ? `event: ${name}\n` : "");
  return events.map((event) => `${nameOf(event)}data: ${event.data}\n\n`).join("");
}

function describeOther([first]: readonly RecordedEvent[]): string {
  return `frames of another API, such as ${first?.data.slice(0, 60)}`;
}

function readCassette(path: string, content: string): Streams {
  // Parsing is slow, and few cassettes have streams.
  const interactions = /event-?stream/i.test(content) ? listAt(parse(content), "interactions") : [];
  return interactions.flatMap((interaction, index) => {
    const headers = at(interaction, "response", "headers");
    const type = String(at(headers, "content-type") ?? at(headers, "Content-Type"));
    return /event-?stream/i.test(type) ? [readInteraction(`${path}#${index + 1}`, interaction, type)] : [];
  });
}

function readInteraction(path: string, interaction: unknown, type: string): Recording | LeftOut {
  const address = textAt(interaction, "request", "uri");
  const provider = URL.parse(address)?.host ?? "unknown";
  if (!type.startsWith("text/")) {
    return { path, provider, why: type };
  }
  if (at(interaction, "request", "method") === "GET") {
    return { path, provider, why: "the rest of an earlier stream" };
  }
  const body = textAt(interaction, "response", "body", "string");
  const events = splitEvents(body);
  const api = findApi(events, address);
  return api === undefined ? { path, provider, why: describeOther(events) } : { path, provider, api, body, events };
}

/** Splits server-sent events. The last one counts without an empty line after it too. */
function splitEvents(body: string): readonly RecordedEvent[] {
  return body.split(/\r?\n\r?\n/).flatMap((block) => {
    const lines = block.split(/\r?\n/);
    const valuesOf = (field: string): readonly string[] =>
      lines.flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).replace(/^ /, "")] : []));
    const data = valuesOf("data");
    return data.length === 0 ? [] : [readEvent(data.join("\n"), valuesOf("event").at(-1) ?? "")];
  });
}
