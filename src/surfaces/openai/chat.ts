// The Chat Completions API: each call is one run, in a session of its own that lasts as long as the call. Tools of the service
// stay unseen. A caller without a key that leaves cancels its run: no other call can read the answer.

import type { TokenLogprob } from "#gen/runnel/v1/message_pb.js";
import type { ArtifactCreated, RunCompleted, RunFailed, RunResult } from "#gen/runnel/v1/result_pb.js";
import type { Usage } from "#gen/runnel/v1/usage_pb.js";
import { followLog } from "../in-process/follow-log.ts";
import { textOf } from "../in-process/message-text.ts";
import { answerOverPassingRun } from "../in-process/passing-session.ts";
import { keepAlive, SlowJson } from "../in-process/slow-json.ts";
import { idempotencyKeyOf, type Visit } from "../in-process/visit.ts";
import { withoutVoid } from "../in-process/without-void.ts";
import { endStream, setHead } from "../rest/respond.ts";
import { streamHeaders, writeText } from "../rest/streamed-answer.ts";
import { type CallerTools, callerToolsOf, textOfArguments } from "./caller-tools.ts";
import { chatAnnotationsOf } from "./citations.ts";
import { ApiError, failureOf, toApiError, unsupported } from "./errors.ts";
import type { Fields } from "./fields.ts";
import { plain, secondsOf } from "./ids.ts";
import { chatLogprobsOf } from "./logprobs.ts";
import { readChatMessages } from "./messages.ts";
import { chatUsageObject } from "./response.ts";
import { readEffort, readMetadata } from "./response-request.ts";
import { readChatSettings, readExtras } from "./settings.ts";
import { newAgent } from "./start.ts";
import { readTools } from "./tools.ts";
import { readFields } from "./visit.ts";

/** `POST /v1/chat/completions`. */
export async function createChatCompletion(visit: Visit): Promise<void> {
  const { calls } = visit;
  const asked = readRequest(readFields(visit));
  const { agent, messages, workDir, model, callerTools } = asked;
  const requestId = idempotencyKeyOf(visit);
  const session = { agent: newAgent, workDir, requestId };
  await answerOverPassingRun(calls, { session, message: { messages, agent, requestId } }, async (runId) => {
    const completion: Completion = { runId, model, callerTools };
    await (asked.isStream
      ? streamCompletion(visit, completion, asked.includesUsage)
      : answerCompletion(visit, completion));
  });
}

interface Completion {
  readonly runId: string;
  readonly model: string;
  readonly callerTools: CallerTools;
}

function readRequest(request: Fields) {
  const tools = readTools(request, { asks: false });
  const metadata = readMetadata(request);
  const model = request.requireText("model");
  const options = request.findObject("stream_options");
  const asked = {
    isStream: request.findFlag("stream") ?? false,
    includesUsage: options?.findFlag("include_usage") ?? false,
    model,
    callerTools: callerToolsOf(request.findItems("tools") ?? []),
    messages: [...readChatMessages(request)],
    workDir: metadata["runnel.work_dir"] ?? "",
    agent: {
      model,
      maxTokens: request.findCount("max_completion_tokens") ?? request.findCount("max_tokens") ?? 0,
      ...readChatSettings(request),
      ...(tools && { tools }),
      reasoningEffort: readEffort(request.findText("reasoning_effort")),
    },
  };
  checkIgnored(request);
  return { ...asked, agent: { ...asked.agent, ...readExtras(request, model) } };
}

/** `max_tokens` has another name now, which has precedence. */
const withoutEffect = [
  ...(["max_tokens", "store", "user", "safety_identifier", "moderation"] as const),
  ...(["prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"] as const),
];

function checkIgnored(request: Fields): void {
  request.ignore(...withoutEffect);
  if ((request.findNumber("n") ?? 1) !== 1) {
    throw unsupported("n", "use 1");
  }
  for (const [name, changesNothing] of neutralValues) {
    const value = request.find(name);
    if (value !== undefined && !changesNothing(value)) {
      throw unsupported(name);
    }
  }
}

/** Fields that libraries send with values that change nothing. */
const neutralValues: readonly (readonly [name: string, changesNothing: (value: unknown) => boolean])[] = [
  ["modalities", (value) => JSON.stringify(value) === '["text"]'],
];

/** A delta of the message, and the log probabilities beside it. */
interface Piece {
  readonly delta: object;
  readonly logprobs?: object | null;
}

function say(content: string, logprobs: readonly TokenLogprob[]): Piece[] {
  return content === "" && logprobs.length === 0 ? [] : [{ delta: { content }, logprobs: chatLogprobsOf(logprobs) }];
}

/** Returns undefined for other files, and for an image that is neither in the log nor at a URL. */
function imageOf({
  artifactType,
  mimeType = "image/png",
  contentBase64,
  metadata,
}: ArtifactCreated): object | undefined {
  if (artifactType !== "image") {
    return undefined;
  }
  const url = contentBase64 === undefined ? urlOf(metadata) : `data:${mimeType};base64,${contentBase64}`;
  return url === undefined ? undefined : { type: "image_url", image_url: { url } };
}

function urlOf(metadata = "{}"): string | undefined {
  const { url }: { readonly url?: unknown } = JSON.parse(metadata);
  return typeof url === "string" ? url : undefined;
}

/** What a log has said so far. */
class ChatFold {
  readonly #callerTools: CallerTools;
  #streamed = "";
  #streamedLogprobs: TokenLogprob[] = [];
  #whole = "";
  #reasoning = "";
  readonly #annotations: object[] = [];
  #images: { readonly sequence: bigint; readonly image: object }[] = [];
  #logprobs: readonly TokenLogprob[] = [];
  #isVoid = false;
  end: RunCompleted | RunFailed | undefined;
  usage: Usage | undefined;

  constructor(callerTools: CallerTools) {
    this.#callerTools = callerTools;
  }

  /** The text of all turns. */
  get text(): string {
    return this.#whole + this.#streamed;
  }

  /** The sources of the text. */
  get annotations(): readonly object[] {
    return this.#annotations;
  }

  /** The images that the log has, in the form of OpenRouter: OpenAI has none. */
  get images(): readonly object[] {
    return this.#images.map(({ image }) => image);
  }

  /** The log probabilities of the text; null for none. */
  get logprobs(): object | null {
    return chatLogprobsOf([...this.#logprobs, ...this.#streamedLogprobs]);
  }

  get reasoning(): string {
    return this.#reasoning;
  }

  /** Returns the pieces of the next result. */
  take({ payload, sequence, usage }: RunResult): Piece[] {
    switch (payload.case) {
      case "reasoningDelta":
        this.#reasoning += payload.value.content;
        return [{ delta: { reasoning_content: payload.value.content } }];
      case "messageDelta": {
        const { content = "", logprobs = [] } = payload.value.chunk ?? {};
        this.#streamed += content;
        this.#streamedLogprobs.push(...logprobs);
        return say(content, logprobs);
      }
      case "messageCompleted": {
        const { message } = payload.value;
        const [content, logprobs] = this.#hasStreamed() ? ["", []] : [textOf(message), message?.logprobs ?? []];
        this.#whole += this.#streamed + content;
        this.#logprobs = [...this.#logprobs, ...this.#streamedLogprobs, ...logprobs];
        this.#forgetStreamed();
        const annotations = chatAnnotationsOf(message);
        this.#annotations.push(...annotations);
        return [...say(content, logprobs), ...(annotations.length === 0 ? [] : [{ delta: { annotations } }])];
      }
      case "artifactCreated": {
        const image = imageOf(payload.value);
        if (image === undefined) {
          return [];
        }
        this.#images.push({ sequence, image });
        return [{ delta: { images: [image] } }];
      }
      case "turnRestarted": {
        const hasDropped = this.#dropImages(payload.value.fromSequence);
        this.#isVoid ||= hasDropped || this.#hasStreamed();
        this.#forgetStreamed();
        return [];
      }
      case "runCompleted":
      case "runFailed":
        this.end = payload.value;
        this.usage = usage;
        return [];
      default:
        return [];
    }
  }

  #hasStreamed(): boolean {
    return this.#streamed !== "" || this.#streamedLogprobs.length > 0;
  }

  /** Drops the images of a turn that begins again. Returns whether there were any. */
  #dropImages(fromSequence: bigint): boolean {
    const kept = this.#images.filter(({ sequence }) => sequence < fromSequence);
    const hasDropped = kept.length < this.#images.length;
    this.#images = kept;
    return hasDropped;
  }

  #forgetStreamed(): void {
    this.#streamed = "";
    this.#streamedLogprobs = [];
  }

  /** True when text or images of a turn that began again was given out. */
  get hasVoidText(): boolean {
    return this.#isVoid;
  }

  get calls() {
    const calls = this.end !== undefined && "pendingToolCalls" in this.end ? this.end.pendingToolCalls : [];
    return calls.map(({ id, name: known, arguments: json }, index) => {
      const { name = known, kind = "function" } = this.#callerTools.get(known) ?? {};
      const call =
        kind === "custom"
          ? { type: "custom", custom: { name, input: textOfArguments(json) } }
          : { type: "function", function: { name, arguments: json } };
      return { index, id, ...call };
    });
  }

  get finishReason(): string {
    const reason = this.end !== undefined && "finishReason" in this.end ? this.end.finishReason : "stop";
    return this.calls.length > 0 ? "tool_calls" : reason === "length" ? "length" : "stop";
  }

  /** Returns the error of a run that failed; undefined for a completed one. */
  get failure(): ApiError | undefined {
    return this.end !== undefined && "code" in this.end ? failureOf(this.end) : undefined;
  }
}

async function answerCompletion({ calls, response }: Visit, { runId, model, callerTools }: Completion): Promise<void> {
  const fold = new ChatFold(callerTools);
  const answer = new SlowJson(response);
  await answer.takeAll(followLog(calls, runId), (result) => fold.take(result));
  const { failure, text, reasoning, annotations, images, logprobs, finishReason } = fold;
  if (failure !== undefined) {
    answer.send(failure.status, { error: failure.body }, failure.headers);
    return;
  }
  const tool_calls = fold.calls.map(({ index: _, ...call }) => call);
  const message = {
    role: "assistant",
    content: text === "" && tool_calls.length > 0 ? null : text,
    refusal: null,
    annotations,
    ...(images.length > 0 && { images }),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(tool_calls.length > 0 && { tool_calls }),
  };
  answer.send(200, {
    ...head(runId, model, "chat.completion"),
    choices: [{ index: 0, message, logprobs, finish_reason: finishReason }],
    usage: chatUsageObject(fold.usage),
  });
}

async function streamCompletion(visit: Visit, completion: Completion, includesUsage: boolean): Promise<void> {
  const { calls, response } = visit;
  const { runId, model, callerTools } = completion;
  const fold = new ChatFold(callerTools);
  const print = ({ delta, logprobs = null }: Piece, finish_reason: string | null = null): string =>
    printData({
      ...head(runId, model, "chat.completion.chunk"),
      choices: [{ index: 0, delta, logprobs, finish_reason }],
      ...(includesUsage && { usage: null }),
    });
  try {
    let silentBatches = 0;
    for await (const results of followLog(calls, runId)) {
      const pieces = withoutVoid(results).flatMap((result) => fold.take(result));
      silentBatches += results.length === 0 ? 1 : 0;
      if (response.headersSent) {
        await writeText(visit, results.length === 0 ? keepAlive : "");
      } else if (pieces.length > 0 || fold.end !== undefined || silentBatches > heldBatches) {
        // A run that fails before its first word is answered with the status of its failure.
        if (fold.failure !== undefined) {
          throw fold.failure;
        }
        setHead(response, 200, streamHeaders);
        await writeText(visit, print({ delta: { role: "assistant", content: "", refusal: null } }));
      }
      if (fold.hasVoidText) {
        const message = "the run began again after a part of its text was sent: repeat the call";
        throw new ApiError(500, { message, code: "run_restarted" });
      }
      await writeText(visit, pieces.map((piece) => print(piece)).join(""));
    }
    if (fold.failure !== undefined) {
      throw fold.failure;
    }
    const calling = fold.calls.length === 0 ? "" : print({ delta: { tool_calls: fold.calls } });
    const usage = { ...head(runId, model, "chat.completion.chunk"), choices: [], usage: chatUsageObject(fold.usage) };
    const last = `${calling}${print({ delta: {} }, fold.finishReason)}${includesUsage ? printData(usage) : ""}`;
    endStream(response, `${last}data: [DONE]\n\n`);
  } catch (error) {
    if (calls.signal.aborted || !response.headersSent) {
      throw error;
    }
    endStream(response, printData({ error: toApiError(error).body }));
  }
}

/** The first empty batch comes at once, the next one after 15 s without a word. */
const heldBatches = 1;

function head(runId: string, model: string, object: string) {
  return { id: `chatcmpl-${plain(runId)}`, object, created: secondsOf(runId), model };
}

function printData(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
