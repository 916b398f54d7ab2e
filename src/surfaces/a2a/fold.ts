// Folds the log of a run into a task and its events. Pure: the same log gives the same task on every replica.
//
// T1  The texts of an artifact's events, joined as `append` says, are the text of the artifact in the task.
// T2  A turn that began again leaves no text behind: its artifacts are sent anew.
// T3  One terminal status is the last event.
// T4  What a status says about a child run or a handoff stays in the history when the next status comes.

import { create, fromJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type Artifact,
  ArtifactSchema,
  type Message,
  MessageSchema,
  type PartSchema,
  Role,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
  type TaskStatus,
  TaskStatusSchema,
} from "#gen/lf/a2a/v1/a2a_pb.js";
import type {
  ApprovalRequested,
  ArtifactCreated,
  ChildRunStarted,
  RunFailed,
  RunResult,
} from "#gen/runnel/v1/result_pb.js";
import { artifactIdOf } from "../in-process/agents.ts";
import { textOf } from "../in-process/message-text.ts";

/** What a task has from its start. */
export interface TaskStart {
  readonly taskId: string;
  readonly contextId: string;
  readonly createTime: Timestamp | undefined;
  readonly history: readonly Message[];
  /** True for a run whose waits ask a person for a text, unless they ask for an approval. */
  readonly asksByWaiting: boolean;
}

type Part = MessageInitShape<typeof PartSchema>;
type MessageInit = Exclude<MessageInitShape<typeof MessageSchema>, undefined>;

/** An artifact, with the sequences of its pieces. */
interface Made {
  readonly artifactId: string;
  readonly name: string;
  pieces: { readonly sequence: bigint; readonly part: Part }[];
  isSent: boolean;
  /** True when its last piece was sent. */
  isFinal: boolean;
}

const ends: ReadonlySet<TaskState> = new Set([
  TaskState.COMPLETED,
  TaskState.FAILED,
  TaskState.CANCELED,
  TaskState.REJECTED,
]);

/** Returns whether a task in this state has ended. */
export function isEnd(state: TaskState): boolean {
  return ends.has(state);
}

/** Folds one log. Give it each result once, in order. */
export class TaskFold {
  readonly #start: TaskStart;
  readonly #made: Made[] = [];
  /** What statuses have said that is no longer the status. */
  readonly #notes: Message[] = [];
  /** The calls whose child runs have not ended. */
  readonly #children = new Set<string>();
  #status: TaskStatus;
  /** The message of the status when it stays in the history. */
  #note: Message | undefined;
  /** The message that is being written; undefined between messages. */
  #speaking: Made | undefined;
  /** The sequence of the last result. */
  sequence = 0n;

  constructor(start: TaskStart) {
    this.#start = start;
    this.#status = create(TaskStatusSchema, { state: TaskState.SUBMITTED, ...timeOf(start.createTime) });
  }

  get state(): TaskState {
    return this.#status.state;
  }

  get task(): Task {
    const { taskId: id, contextId, history } = this.#start;
    const artifacts = this.#made.filter(({ pieces }) => pieces.length > 0).map(artifactOf);
    return create(TaskSchema, {
      id,
      contextId,
      status: this.#status,
      artifacts,
      history: [...history, ...this.#notes],
    });
  }

  /** Returns the events of the next result. */
  take(result: RunResult): StreamResponse[] {
    const { sequence, payload } = result;
    this.sequence = sequence;
    switch (payload.case) {
      case "messageDelta": {
        const { content = "", replacesText = false, isFinal = false } = payload.value.chunk ?? {};
        return [...this.#work(result), ...this.#speak(sequence, content, { replacesText, isFinal })];
      }
      case "messageCompleted":
        return [...this.#work(result), ...this.#complete(sequence, textOf(payload.value.message))];
      case "artifactCreated":
        return [...this.#work(result), ...this.#addFile(sequence, payload.value)];
      case "turnRestarted":
        return [...this.#work(result), ...this.#restart(payload.value.fromSequence)];
      case "approvalRequested":
        return this.#ask(result, payload.value);
      case "runWaiting":
        return this.#wait(result, payload.value.reason);
      case "childRunStarted":
        return this.#startChild(result, payload.value);
      case "toolCallCompleted":
        return [...this.#work(result), ...this.#endChild(result, payload.value.toolCallId)];
      case "handoffCompleted": {
        const { fromAgent, toAgent } = payload.value;
        return this.#tell(result, { text: `${fromAgent} has handed over to ${toAgent}.` });
      }
      case "runCompleted":
        return [
          ...this.#complete(sequence, textOf(payload.value.message) || payload.value.output, true),
          this.#setStatus(result, TaskState.COMPLETED),
        ];
      case "runFailed":
        return [
          this.#setStatus(result, stateOfFailure(payload.value), this.#ofAgent(result, textPart(payload.value.error))),
        ];
      default:
        return this.#work(result);
    }
  }

  #work(result: RunResult): StreamResponse[] {
    return this.state === TaskState.WORKING ? [] : [this.#setStatus(result, TaskState.WORKING)];
  }

  #wait(result: RunResult, reason: string): StreamResponse[] {
    // A wait for an approval leaves its question open.
    if (this.state === TaskState.AUTH_REQUIRED) {
      return [];
    }
    return this.#start.asksByWaiting
      ? [this.#setStatus(result, TaskState.INPUT_REQUIRED, this.#ofAgent(result, textPart(reason)))]
      : this.#work(result);
  }

  #ask(result: RunResult, asked: ApprovalRequested): StreamResponse[] {
    const { approvalId, digest, expireTime } = asked;
    const action = asked.action || asked.toolName;
    const question = {
      approvalId,
      digest,
      action,
      ...(expireTime !== undefined && { expireTime: timestampDate(expireTime).toISOString() }),
    };
    const text = `Approval ${approvalId} is needed for ${action}: decide it with the service's ApprovalService.`;
    return [
      this.#setStatus(result, TaskState.AUTH_REQUIRED, this.#ofAgent(result, textPart(text), dataPart(question))),
    ];
  }

  /** A child run is a task of its own. */
  #startChild(result: RunResult, { toolCallId, toolName, runId }: ChildRunStarted): StreamResponse[] {
    this.#children.add(toolCallId);
    return this.#tell(result, { text: `${toolName} works on task ${runId}.`, referenceTaskIds: [runId] });
  }

  #endChild(result: RunResult, toolCallId: string): StreamResponse[] {
    const isLast = this.#children.delete(toolCallId) && this.#children.size === 0;
    return isLast && this.#note !== undefined ? [this.#setStatus(result, TaskState.WORKING)] : [];
  }

  /** Says what the task does. An open question stays the status. */
  #tell(result: RunResult, { text, ...rest }: { readonly text: string; readonly referenceTaskIds?: string[] }) {
    const message = create(MessageSchema, { ...this.#ofAgent(result, textPart(text)), ...rest });
    if (this.state === TaskState.AUTH_REQUIRED) {
      this.#notes.push(message);
      return [];
    }
    const event = this.#setStatus(result, TaskState.WORKING, message);
    this.#note = message;
    return [event];
  }

  #ofAgent({ sequence }: RunResult, ...parts: readonly Part[]): MessageInit | undefined {
    const { taskId, contextId } = this.#start;
    const said = parts.filter(({ content }) => content?.value !== "");
    return said.length === 0
      ? undefined
      : { messageId: `${taskId}-${sequence}`, taskId, contextId, role: Role.AGENT, parts: said };
  }

  #setStatus(result: RunResult, state: TaskState, message?: MessageInit): StreamResponse {
    const { taskId, contextId } = this.#start;
    this.#notes.push(...(this.#note === undefined ? [] : [this.#note]));
    this.#note = undefined;
    const said = message === undefined ? {} : { message };
    this.#status = create(TaskStatusSchema, { state, ...timeOf(result.createTime), ...said });
    return eventOf({ case: "statusUpdate", value: { taskId, contextId, status: this.#status } });
  }

  #speak(
    sequence: bigint,
    text: string,
    { replacesText, isFinal }: { readonly replacesText: boolean; readonly isFinal: boolean },
  ): StreamResponse[] {
    if (text === "" && !replacesText) {
      return [];
    }
    const made = this.#speaking?.isFinal === false ? this.#speaking : this.#openMessage();
    this.#speaking = made;
    if (replacesText) {
      made.pieces = [];
    }
    made.isFinal = isFinal;
    const append = made.isSent && !replacesText;
    made.pieces.push({ sequence, part: textPart(text) });
    return [this.#send(made, [textPart(text)], { append, lastChunk: isFinal })];
  }

  /** Ends the message. Sends its text whole, unless the pieces were it. `isResult` is true for the text of the end of the run. */
  #complete(sequence: bigint, text: string, isResult = false): StreamResponse[] {
    const made = this.#speaking ?? (isResult ? this.#lastMessage() : undefined);
    this.#speaking = undefined;
    const known = made === undefined ? "" : textOfPieces(made);
    if (text === "" || known === text) {
      return [];
    }
    // The end of a run may have another text than its last message.
    const target = made === undefined || (isResult && !text.startsWith(known)) ? this.#openMessage() : made;
    target.pieces = [{ sequence, part: textPart(text) }];
    return [this.#send(target, [textPart(text)], { append: false, lastChunk: true })];
  }

  #addFile(sequence: bigint, artifact: ArtifactCreated): StreamResponse[] {
    const artifactId = `file-${artifactIdOf(sequence, artifact)}`;
    const part = filePart(artifact);
    const name = artifact.name ?? "";
    const made: Made = { artifactId, name, pieces: [{ sequence, part }], isSent: false, isFinal: true };
    this.#made.push(made);
    return [this.#send(made, [part], { append: false, lastChunk: true })];
  }

  #restart(from: bigint): StreamResponse[] {
    this.#speaking = undefined;
    const events: StreamResponse[] = [];
    for (const made of this.#made) {
      const kept = made.pieces.filter(({ sequence }) => sequence < from);
      if (kept.length < made.pieces.length) {
        made.pieces = kept;
        // An artifact has a part, also without text.
        const parts = kept.length === 0 ? [textPart("")] : kept.map(({ part }) => part);
        events.push(this.#send(made, parts, { append: false, lastChunk: false }));
        if (isMessage(made)) {
          made.isFinal = false;
          this.#speaking ??= made;
        }
      }
    }
    return events;
  }

  #openMessage(): Made {
    const number = this.#made.filter(isMessage).length + 1;
    const made: Made = { artifactId: `message-${number}`, name: "", pieces: [], isSent: false, isFinal: false };
    this.#made.push(made);
    return made;
  }

  #lastMessage(): Made | undefined {
    return this.#made.findLast(isMessage);
  }

  #send(
    made: Made,
    parts: readonly Part[],
    { append, lastChunk }: { readonly append: boolean; readonly lastChunk: boolean },
  ): StreamResponse {
    const { taskId, contextId } = this.#start;
    made.isSent = true;
    const artifact = { artifactId: made.artifactId, name: made.name, parts: [...parts] };
    return eventOf({ case: "artifactUpdate", value: { taskId, contextId, artifact, append, lastChunk } });
  }
}

/** Returns an event of a stream. */
export function eventOf(payload: MessageInitShape<typeof StreamResponseSchema>["payload"]): StreamResponse {
  return create(StreamResponseSchema, { payload } as MessageInitShape<typeof StreamResponseSchema>);
}

/** Returns a part with text. */
function textPart(text: string): Part {
  return { content: { case: "text", value: text } };
}

/** Returns a part with JSON. */
function dataPart(value: JsonObject): Part {
  return { content: { case: "data", value: fromJson(ValueSchema, value) } };
}

function isMessage({ artifactId }: Made): boolean {
  return artifactId.startsWith("message-");
}

function timeOf(timestamp: Timestamp | undefined) {
  return timestamp === undefined ? {} : { timestamp };
}

function stateOfFailure({ code }: RunFailed): TaskState {
  if (code === "cancelled") {
    return TaskState.CANCELED;
  }
  // The code by which a runner declines a task.
  return code === "rejected" ? TaskState.REJECTED : TaskState.FAILED;
}

function filePart({ contentBase64, mimeType, name, artifactType, sizeBytes }: ArtifactCreated): Part {
  if (contentBase64 === undefined) {
    return dataPart({ artifactType, ...(sizeBytes !== undefined && { sizeBytes: Number(sizeBytes) }) });
  }
  const mediaType = mimeType ?? "application/octet-stream";
  return { content: { case: "raw", value: Buffer.from(contentBase64, "base64") }, mediaType, filename: name ?? "" };
}

function artifactOf({ artifactId, name, pieces }: Made): Artifact {
  const parts = pieces.every(({ part }) => part.content?.case === "text")
    ? [textPart(textOfPieces({ pieces }))]
    : pieces.map(({ part }) => part);
  return create(ArtifactSchema, { artifactId, name, parts });
}

function textOfPieces({ pieces }: Pick<Made, "pieces">): string {
  return pieces.map(({ part }) => (part.content?.case === "text" ? part.content.value : "")).join("");
}
