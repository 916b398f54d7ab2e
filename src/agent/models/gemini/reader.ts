// Turns one response of streamGenerateContent into ModelParts, frame by frame. No socket, no clock. Usage and finish reason are
// cumulative in each frame, and the last finish counts: some models send one in every frame. A long answer may take several
// requests, which one reader reads. A line that is invalid JSON and a part of an unknown kind are skipped; a text or a call of an
// unknown form is a failure, because it would lose a piece of the answer.

import { parseJson } from "../../../platform/base/json/parse-object.ts";
import type { ModelLogprob, ModelPart, ModelUsage } from "../model.ts";
import { Artifacts } from "../wire/artifacts.ts";
import { Citations } from "../wire/citations.ts";
import { endResponse } from "../wire/end.ts";
import { describeLostFrame, describeStreamError, describeUnreadable } from "../wire/failures.ts";
import { asRecord, type FrameFinish, isLostFrame, mergeUsage, WrittenValue } from "../wire/frame.ts";
import { addLogprobs, readLogprobs } from "../wire/logprobs.ts";
import type { Origin } from "../wire/origin.ts";
import { SkippedFrames } from "../wire/skipped.ts";
import type { ResponseReader } from "../wire/stream.ts";
import { addUsage, asArray, type Fields, readContinuation, readError, readFinish, readUsage } from "./frames.ts";
import { FunctionCalls } from "./function-calls.ts";
import { ProviderTools } from "./provider-tools.ts";
import { ResponseState } from "./state.ts";

/** The maximum number of further requests for one answer. The provider bounds them by the token limit, too. */
const continuationsMax = 64;

/** Reads the events of one response. */
export class ContentReader implements ResponseReader {
  readonly skipped = new SkippedFrames();
  readonly #provider: string;
  readonly #origin: Origin;
  readonly #calls = new FunctionCalls();
  readonly #citations = new Citations();
  readonly #artifacts = new Artifacts();
  readonly #tools = new ProviderTools();
  readonly #state = new ResponseState();
  #finish: FrameFinish | undefined;
  #usage: ModelUsage | undefined;
  /** The usage of the requests before this one, and of this one. */
  #earlier: ModelUsage | undefined;
  #current: ModelUsage | undefined;
  #token: string | undefined;
  #continuation: string | undefined;
  #continuations = 0;
  #hasLost = false;

  constructor(origin: Origin) {
    this.#provider = origin.provider;
    this.#origin = origin;
  }

  read(data: string, event?: string): readonly ModelPart[] {
    const value = parseJson(data);
    // Some errors arrive as an array with one element.
    const frame = asRecord(Array.isArray(value) ? value[0] : value);
    if (event === "error") {
      return [describeStreamError(readError(frame.error) ?? value ?? data)];
    }
    // A frame may also be lost after a finish, which need not be the last one.
    this.#hasLost ||= value === undefined && isLostFrame(data);
    const candidate = asRecord(asArray(frame.candidates)[0]);
    const written = (): WrittenValue => new WrittenValue(data).at("candidates").at(0);
    const parts: ModelPart[] = [];
    this.#count(asRecord(frame.usageMetadata), parts);
    this.#tools.note(candidate, written);
    this.#citations.add(asRecord(candidate.groundingMetadata).groundingChunks);
    const said: ModelPart[] = [];
    this.#addContent(candidate, written, said);
    if (candidate.logprobsResult !== undefined) {
      addLogprobs(said, logprobsOf(candidate), { hasCalls: !hasOnlyText(candidate) });
    }
    parts.push(...said);
    this.#note(frame, candidate);
    const error = readError(frame.error);
    if (error !== undefined) {
      parts.push(describeStreamError(error));
    } else if (frame.candidates === undefined && value !== undefined && !knownMembers.some((name) => name in frame)) {
      this.skipped.add("event", event ?? Object.keys(frame)[0]);
    }
    return parts;
  }

  end(): readonly ModelPart[] {
    if (this.#token !== undefined) {
      [this.#continuation, this.#token] = [this.#token, undefined];
      return [];
    }
    const calls = this.#calls.all();
    const ended = endResponse({
      provider: this.#provider,
      finish: this.#finish,
      calls: calls.map(({ id, name, argumentsJson }) => ({ id, name, argumentsJson })),
      usage: this.#usage,
      refusal: "",
      hasLost: this.#hasLost || calls.some(({ isOpen }) => isOpen),
      hasBegunCall: calls.length > 0,
      citations: this.#citations.all(),
      state: this.#state.print(this.#origin, this.#finish?.reason === "length"),
    });
    return ended.at(-1)?.type === "finish" ? [...this.#tools.end(), ...ended] : ended;
  }

  /** Returns the token that asks for the rest of the answer, once; undefined when the answer has ended. */
  takeContinuation(): string | undefined {
    const token = this.#continuation;
    this.#continuation = undefined;
    return token;
  }

  #count(counts: Fields, parts: ModelPart[]): void {
    const newer = readUsage(counts);
    if (newer !== undefined) {
      this.#current = newer;
      const usage = addUsage(this.#earlier, newer) ?? newer;
      this.#usage = mergeUsage(this.#usage, usage) ?? usage;
      parts.push({ type: "usage", usage: this.#usage });
    }
  }

  #addContent({ content }: Fields, written: () => WrittenValue, parts: ModelPart[]): void {
    const all = asArray(asRecord(content).parts);
    let list: WrittenValue | undefined;
    for (const [place, part] of all.entries()) {
      const writtenPart = (): WrittenValue => {
        list ??= written().at("content").at("parts");
        return list.at(place);
      };
      this.#addPart(asRecord(part), writtenPart, parts);
    }
  }

  #addPart(part: Fields, written: () => WrittenValue, parts: ModelPart[]): void {
    const { text, functionCall, thoughtSignature } = part;
    const signature = typeof thoughtSignature === "string" && thoughtSignature !== "" ? thoughtSignature : undefined;
    if (functionCall !== undefined && functionCall !== null) {
      this.#addCall(functionCall, signature, () => written().at("functionCall"), parts);
      return;
    }
    const ofTools = this.#tools.add(part, written);
    if (ofTools !== undefined) {
      this.#state.addWritten(written().text() ?? JSON.stringify(part));
      parts.push(...ofTools);
    } else if (isObject(part.inlineData) || isObject(part.fileData)) {
      this.#addFile(part, parts);
    } else if (typeof text === "string" || isOnlySignature(part)) {
      this.#addText(typeof text === "string" ? text : "", part.thought === true, signature, parts);
    } else if (text !== undefined && text !== null) {
      parts.push(this.#unreadable("a frame has an unknown form"));
    } else {
      this.skipped.add(
        "part",
        Object.keys(part).find((key) => !describing.has(key)),
      );
    }
  }

  #addText(text: string, isThought: boolean, signature: string | undefined, parts: ModelPart[]): void {
    this.#state.addText(text, isThought, signature);
    if (text !== "") {
      parts.push({ type: isThought ? "reasoning" : "text", text });
    }
  }

  /** Images among the thoughts are drafts, which neither the answer nor a later request has. */
  #addFile(part: Fields, parts: ModelPart[]): void {
    if (part.thought === true) {
      return;
    }
    const { mimeType: mediaType, data: base64 } = asRecord(part.inlineData);
    const { mimeType: ofFile, fileUri } = asRecord(part.fileData);
    const artifact = isObject(part.inlineData)
      ? this.#artifacts.addBytes({ mediaType, base64 })
      : this.#artifacts.addUrl(fileUri, { mediaType: ofFile });
    if (artifact !== undefined) {
      this.#state.addFile(JSON.stringify(part));
      parts.push(artifact);
    }
  }

  #addCall(call: unknown, signature: string | undefined, written: () => WrittenValue, parts: ModelPart[]): void {
    const piece = this.#calls.add({ call, signature, written });
    if ("fault" in piece) {
      // The frame that was lost may have begun the call.
      parts.push(this.#hasLost ? describeLostFrame(this.#provider) : this.#unreadable(piece.fault));
      return;
    }
    if (piece.begun !== undefined) {
      this.#state.addCall(piece.begun);
    }
    if (piece.text !== "") {
      parts.push({ type: "call-piece", text: piece.text });
    }
  }

  /** Notes whether and why the response ends with this frame. */
  #note({ promptFeedback }: Fields, candidate: Fields): void {
    const token = readContinuation(candidate);
    if (token === undefined || this.#continuations === continuationsMax) {
      this.#finish = readFinish(asRecord(promptFeedback), candidate) ?? this.#finish;
      return;
    }
    this.#token = token;
    this.#continuations += 1;
    this.#finish = undefined;
    // The usage counts one request.
    this.#earlier = addUsage(this.#earlier, this.#current);
    this.#current = undefined;
  }

  #unreadable(why: string): ModelPart {
    return describeUnreadable(this.#provider, why);
  }
}

/** Members of frames beside their candidates. */
const knownMembers = ["usageMetadata", "promptFeedback", "modelVersion", "responseId"] as const;

/** Members that say something about the rest of their part. */
const describing: ReadonlySet<string> = new Set(["thought", "thoughtSignature", "partMetadata", "videoMetadata"]);

/** Whether a part has nothing but a signature, as if its text were empty. */
function isOnlySignature({ thoughtSignature, thought: _, ...others }: Fields): boolean {
  return typeof thoughtSignature === "string" && Object.keys(others).length === 0;
}

/** The likeliest tokens are in a list of their own, at the places of the chosen ones. */
function logprobsOf({ logprobsResult }: Fields): readonly ModelLogprob[] | undefined {
  const { chosenCandidates, topCandidates } = asRecord(logprobsResult);
  return readLogprobs(chosenCandidates, (_, place) => asRecord(asArray(topCandidates)[place]).candidates);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasOnlyText({ content }: Fields): boolean {
  return asArray(asRecord(content).parts).every((part) => typeof asRecord(part).text === "string");
}
