// Turns the events of a remote task into results of the log.
//
// F1  The texts of an artifact, joined, are its text: a piece that comes twice, as after a lost stream, is written once.
// F2  What the protocol does not have adds nothing.

import type { Artifact, Part, StreamResponse, TaskStatus } from "@a2a-js/sdk";
import { create } from "@bufbuild/protobuf";
import { TaskState } from "#gen/lf/a2a/v1/a2a_pb.js";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { contentBytesMax, measureContent } from "../../engine/log/content.ts";
import type { ResultInit } from "../../engine/log/result.ts";
import { messageCharsMax } from "./limits.ts";
import type { Place } from "./storage/a2a-context.ts";

/** How a task ended, or that it waits for an answer. */
export type Outcome =
  | { readonly kind: "completed"; readonly finishReason: "stop" | "input_required" }
  | { readonly kind: "failed"; readonly code: string; readonly error: string };

/** What the log has of an artifact. */
interface Known {
  text: string;
  files: number;
}

/** The results of one task. */
export class Fold {
  readonly #hide: (text: string) => string;
  readonly #known = new Map<string, Known>();
  #speaking: { readonly id: string; text: string } | undefined;
  #said: Message | undefined;
  #messages = 0;
  #note = "";
  #outcome: Outcome | undefined;
  #chars = 0;
  #taskId: string;
  #contextId: string;

  /** `hide` removes secrets from a text. */
  constructor(hide: (text: string) => string, { taskId = "", contextId = "" }: Partial<Place> = {}) {
    this.#hide = hide;
    this.#taskId = taskId;
    this.#contextId = contextId;
  }

  /** The task; empty until the agent names it. */
  get taskId(): string {
    return this.#taskId;
  }

  get contextId(): string {
    return this.#contextId;
  }

  /** The last whole message of the agent. */
  get said(): Message | undefined {
    return this.#said;
  }

  /** The characters of the events so far. */
  get chars(): number {
    return this.#chars;
  }

  /** Undefined while the task works. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** Learns the ids of a task before its events are taken. Throws for an id of a task that cannot be kept. */
  name({ payload }: StreamResponse): void {
    const {
      id,
      taskId = id ?? "",
      contextId = "",
    } = (payload?.value ?? {}) as Readonly<Record<string, string | undefined>>;
    if (!isKeepable(taskId)) {
      throw new Error("the id of its task is too long, or has a NUL");
    }
    this.#taskId ||= taskId;
    this.#contextId ||= isKeepable(contextId) ? contextId : "";
  }

  /** Returns the results of an event. */
  take(event: StreamResponse): ResultInit[] {
    this.#chars += eventChars;
    const { payload } = event;
    switch (payload?.$case) {
      case "task": {
        const { artifacts, status } = payload.value;
        return [...artifacts.flatMap((artifact) => this.#show(artifact, false)), ...this.#setStatus(status)];
      }
      case "artifactUpdate": {
        const { artifact, append, lastChunk } = payload.value;
        return artifact === undefined
          ? []
          : [...this.#show(artifact, append), ...(lastChunk ? this.#endMessage(artifact.artifactId) : [])];
      }
      case "statusUpdate":
        return this.#setStatus(payload.value.status);
      case "message": {
        const results = this.#tell(payload.value.parts);
        // A message without a task is the whole answer.
        return this.#taskId === "" ? [...results, ...this.#end({ kind: "completed", finishReason: "stop" })] : results;
      }
      default:
        return [];
    }
  }

  #show({ artifactId, name, parts }: Artifact, append: boolean): ResultInit[] {
    const known = this.#known.get(artifactId) ?? { text: "", files: 0 };
    this.#known.set(artifactId, known);
    const files = parts.filter(isFile);
    const filesNew = append ? files : files.slice(known.files);
    known.files += filesNew.length;
    const text = (append ? known.text : "") + this.#textOf(parts);
    const results = text.startsWith(known.text)
      ? this.#speak(artifactId, text.slice(known.text.length))
      : this.#speakAnew(artifactId, text);
    known.text = text;
    return [...results, ...filesNew.map((part) => this.#addFile(part, name))];
  }

  #addFile(part: Part, name: string): ResultInit {
    this.#chars += part.content?.value.length;
    return fileOf(part, name);
  }

  #speak(id: string, content: string): ResultInit[] {
    if (content === "") {
      return [];
    }
    // Readers get a message whole: one that is too long goes on as another.
    const isFull = (this.#speaking?.text.length ?? 0) + content.length > messageCharsMax;
    const before = this.#speaking?.id === id && !isFull ? [] : this.#endMessage();
    this.#speaking ??= { id, text: "" };
    this.#speaking.text += content;
    return [...before, this.#delta({ content })];
  }

  /** The agent has revised a text. */
  #speakAnew(id: string, content: string): ResultInit[] {
    if (this.#speaking?.id !== id) {
      return this.#speak(id, content);
    }
    this.#speaking.text = content;
    return [this.#delta({ content, replacesText: true })];
  }

  #delta(chunk: { readonly content: string; readonly replacesText?: boolean }): ResultInit {
    const value = { chunk: { role: "assistant", msgSequence: this.#messages + 1, ...chunk } };
    return { payload: { case: "messageDelta", value } };
  }

  #endMessage(id = this.#speaking?.id): ResultInit[] {
    if (this.#speaking === undefined || this.#speaking.id !== id) {
      return [];
    }
    const { text } = this.#speaking;
    this.#speaking = undefined;
    return text === "" ? [] : [this.#complete(text)];
  }

  #complete(text: string): ResultInit {
    this.#messages += 1;
    this.#said = create(MessageSchema, { role: "assistant", content: { case: "text", value: text } });
    return { payload: { case: "messageCompleted", value: { message: this.#said } } };
  }

  /** A whole message of the agent. An artifact may have said it before. */
  #tell(parts: readonly Part[]): ResultInit[] {
    const before = this.#endMessage();
    const text = this.#textOf(parts);
    const isSaid = this.#said?.content.value === text;
    return [...before, ...(text === "" || isSaid ? [] : [this.#complete(text)])];
  }

  #setStatus(status: TaskStatus | undefined): ResultInit[] {
    const parts = status?.message?.parts ?? [];
    // A number of the same protocol, in the types of another library.
    const state: number = status?.state ?? TaskState.UNSPECIFIED;
    switch (state) {
      case TaskState.COMPLETED:
        return [...this.#tell(parts), ...this.#end({ kind: "completed", finishReason: "stop" })];
      case TaskState.INPUT_REQUIRED:
        return [...this.#tell(parts), ...this.#end({ kind: "completed", finishReason: "input_required" })];
      case TaskState.FAILED:
        return this.#fail("runner.error", parts, "the agent failed without a reason");
      case TaskState.REJECTED:
        return this.#fail("rejected", parts, "the agent declined the task without a reason");
      case TaskState.CANCELED:
        return this.#fail("cancelled", parts, "the agent cancelled the task");
      case TaskState.AUTH_REQUIRED:
        return this.#once(parts, (text) => {
          const json = JSON.stringify({ text, data: parts.flatMap(dataOf) });
          return { payload: { case: "extension", value: { type: "a2a.auth_required", json: this.#hide(json) } } };
        });
      default:
        return this.#once(parts, (content) => ({ payload: { case: "reasoningDelta", value: { content } } }));
    }
  }

  /** A status that comes twice adds nothing. */
  #once(parts: readonly Part[], print: (text: string) => ResultInit): ResultInit[] {
    const text = this.#textOf(parts);
    const isNew = text !== "" && text !== this.#note;
    this.#note = text;
    return isNew ? [print(text)] : [];
  }

  #fail(code: string, parts: readonly Part[], fallback: string): ResultInit[] {
    return this.#end({ kind: "failed", code, error: this.#textOf(parts) || fallback });
  }

  #end(outcome: Outcome): ResultInit[] {
    const results = this.#endMessage();
    this.#outcome = outcome;
    return results;
  }

  #textOf(parts: readonly Part[]): string {
    const texts = parts.map((part) => {
      const { content } = part;
      return content?.$case === "text"
        ? content.value
        : dataOf(part)
            .map((data) => JSON.stringify(data))
            .join("");
    });
    const text = texts.join("");
    this.#chars += text.length;
    return this.#hide(text).toWellFormed();
  }
}

/** The least that an event counts. */
const eventChars = 64;

function isKeepable(id: string): boolean {
  return /^[^\0]{0,512}$/s.test(id);
}

/** Returns whether a task in this state says nothing more by itself. */
export function isOver(state: number | undefined): boolean {
  return overStates.has(state ?? TaskState.UNSPECIFIED);
}

const overStates: ReadonlySet<number> = new Set([
  TaskState.COMPLETED,
  TaskState.FAILED,
  TaskState.REJECTED,
  TaskState.CANCELED,
  TaskState.INPUT_REQUIRED,
]);

function dataOf({ content }: Part): unknown[] {
  return content?.$case === "data" ? [content.value] : [];
}

function isFile({ content }: Part): boolean {
  return content?.$case === "raw" || content?.$case === "url";
}

/** Content that is too large for a log is only described. */
function fileOf({ content, filename, mediaType }: Part, artifactName: string): ResultInit {
  const name = (filename || artifactName).toWellFormed();
  const bytes = content?.$case === "raw" ? content.value : undefined;
  const value = {
    artifactType: mediaType.startsWith("image/") ? "image" : "file",
    ...(mediaType !== "" && { mimeType: mediaType.toWellFormed() }),
    ...(name !== "" && { name }),
    ...(content?.$case === "url" && { metadata: JSON.stringify({ url: content.value }).toWellFormed() }),
    ...(bytes !== undefined && describe(bytes)),
  };
  return { payload: { case: "artifactCreated", value } };
}

function describe(bytes: Uint8Array) {
  const { sizeBytes, sha256 } = measureContent(bytes);
  const isSmall = bytes.length <= contentBytesMax;
  return {
    sizeBytes: BigInt(sizeBytes),
    sha256,
    ...(isSmall && { contentBase64: Buffer.from(bytes).toString("base64") }),
  };
}
