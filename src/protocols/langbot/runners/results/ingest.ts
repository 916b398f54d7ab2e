// What becomes of the results that the runner of one run reports (LangBot AgentRunner Protocol v1, §7). Pure: it decides, and
// whoever calls it writes. An outcome has to be durable before the runner is answered; where it cannot be made so, the Ingest
// is not used again, and another one recalls what the log and the stored verdicts have.
//
// I1  A number counts once, whatever became of its result; how results are cut into batches changes nothing.
// I2  Results enter the log in the order in which they came: nothing waits for a number that is missing.
// I3  The first terminal result that is valid ends the run; nothing after it counts, and no limit stands in its way.
// I4  No result ends anything but its own run, and none throws.

import type { ReportedResult } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { MessageChunk } from "#gen/runnel/v1/message_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { isTerminal, type ResultInit } from "../../../../engine/log/result.ts";
import { JsonTextError } from "../../../../platform/base/json/text.ts";
import { applyPayload } from "./apply.ts";
import type { ApprovalStamp } from "./approval.ts";
import type { NewArtifact } from "./artifact.ts";
import type { ResultEffect, RunnerEnd } from "./effect.ts";
import { PayloadFault } from "./members.ts";
import { Output } from "./output.ts";
import { type Policy, type Refusal, refusePayload, type TakenPayload } from "./policy.ts";
import { isTerminalType, type JsonDocument, type RunnerPayload, readPayload } from "./read-payload.ts";
import { type Report, readReport } from "./report.ts";
import { SeenNumbers } from "./seen.ts";
import { isSequence, sequenceMax } from "./sequence.ts";
import { readUsage } from "./usage.ts";
import { type Disposition, isPlain, isRepeatable, quotaWord, showType, type Verdict } from "./verdict.ts";

export interface IngestOptions extends Policy {
  readonly runId: string;
  readonly limits: IngestLimits;
  readonly newArtifactId: () => string;
  readonly stampApproval: () => ApprovalStamp;
  /** Why an artifact may not have the id that it names; undefined when it may. */
  readonly refuseArtifact: (artifact: NewArtifact) => Refusal | undefined;
}

/** Of one run. */
export interface IngestLimits {
  /** Numbers that count, whatever became of their results. */
  readonly resultsMax: number;
  /** What enters the log, as it was reported. */
  readonly bytesMax: number;
  /** Kept verdicts on repetitions and on what came beyond the end or a limit, of which there may be any number. */
  readonly repeatedVerdictsMax: number;
}

export interface IngestOutcome {
  /** On each item, in order. */
  readonly verdicts: readonly Verdict[];
  /** Those to keep. */
  readonly kept: readonly Verdict[];
  /** What enters the log, the terminal result excepted. */
  readonly results: readonly ResultInit[];
  readonly effects: readonly ResultEffect[];
  /** Where the run has ended by this. */
  readonly end: RunnerEnd | undefined;
}

/** An outcome while it is being made. */
interface Batch {
  readonly results: ResultInit[];
  readonly effects: ResultEffect[];
  end: RunnerEnd | undefined;
  readonly isCancelled: boolean;
}

interface Judged {
  readonly disposition: Disposition;
  readonly diagnostics: readonly string[];
}

export class Ingest {
  readonly #options: IngestOptions;
  readonly #seen: SeenNumbers;
  readonly #output = new Output();
  #bytes = 0;
  #repeatedVerdicts = 0;
  #hasEnded = false;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#seen = new SeenNumbers(options.limits.resultsMax);
  }

  /** Every number up to this one was seen. */
  get ackedThrough(): number {
    return this.#seen.through;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Takes up an entry of the run's log that was written before this Ingest was made; `bytes` is the size of its row. What was
   * sent with its number is not known any more, so a repetition of it is never called a conflict. All entries come in order and
   * before the first result; verdicts may come between them.
   */
  recallResult({ payload, runnerSequence }: RunResult, bytes: number): void {
    this.#hasEnded ||= isTerminal(payload);
    if (runnerSequence === 0n) {
      return;
    }
    this.#recallNumber(runnerSequence);
    this.#bytes += bytes;
    if (payload.case === "messageDelta" && payload.value.chunk !== undefined) {
      this.#output.recallChunk(payload.value.chunk);
    }
    if (payload.case === "messageCompleted" && payload.value.message !== undefined) {
      this.#output.addMessage(payload.value.message);
    }
  }

  /** Takes up a kept verdict. */
  recallVerdict(verdict: Pick<Verdict, "sequence" | "disposition" | "diagnostics">): void {
    this.#recallNumber(verdict.sequence);
    if (isRepeatable(verdict)) {
      this.#repeatedVerdicts += 1;
    }
  }

  /** `isCancelled`: the run is being cancelled, so the host says how it ends. */
  take(items: readonly ReportedResult[], { isCancelled = false } = {}): IngestOutcome {
    const batch: Batch = { results: [], effects: [], end: undefined, isCancelled };
    const verdicts = items.map((item): Verdict => {
      const { disposition, diagnostics } = this.#takeItem(item, batch);
      return { sequence: item.sequence, type: showType(item.type), disposition, diagnostics };
    });
    const { results, effects, end } = batch;
    return { results, effects, end, verdicts, kept: verdicts.filter((verdict) => this.#isKept(verdict)) };
  }

  #recallNumber(sequence: bigint): void {
    const number = Number(sequence);
    if (isSequence(number) && !this.#seen.has(number)) {
      this.#seen.add(number, undefined);
    }
  }

  #isKept(verdict: Verdict): boolean {
    if (isPlain(verdict)) {
      return false;
    }
    if (!isRepeatable(verdict)) {
      return true;
    }
    this.#repeatedVerdicts += 1;
    return this.#repeatedVerdicts <= this.#options.limits.repeatedVerdictsMax;
  }

  #takeItem(item: ReportedResult, batch: Batch): Judged {
    const number = Number(item.sequence);
    if (!isSequence(number)) {
      return judged("dropped_invalid", [`sequence is not from 1 to ${sequenceMax}: count from 1`]);
    }
    const report = readReport(item, this.#options.runId);
    if (this.#seen.has(number)) {
      return judged("dropped_duplicate", this.#seen.conflicts(number, report.body) ? ["conflict"] : []);
    }
    const odd = this.#describeOrder(number);
    const isNoted = this.#seen.add(number, report.body);
    const isBeyond = !isNoted || this.#seen.count > this.#options.limits.resultsMax;
    const { disposition, diagnostics } = this.#judge(item, report, { isBeyond, batch });
    // An end that is none ends nothing, so beyond the limit there may be any number of them.
    const limit = isBeyond && disposition === "dropped_invalid" ? [this.#tooMany()] : [];
    return judged(disposition, [...(isNoted ? odd : []), ...limit, ...diagnostics]);
  }

  #describeOrder(number: number): string[] {
    const { highest } = this.#seen;
    if (number < highest) {
      return ["out_of_order"];
    }
    const [first, last] = [highest + 1, number - 1];
    if (first > last) {
      return [];
    }
    return [first === last ? `gap ${first}` : `gap ${first}-${last}`];
  }

  #judge(item: ReportedResult, report: Report, { isBeyond, batch }: { isBeyond: boolean; batch: Batch }): Judged {
    if (this.#hasEnded) {
      return judged("ignored_after_terminal");
    }
    const quota = isTerminalType(item.type) ? undefined : this.#findQuota(report, isBeyond);
    if (quota !== undefined) {
      return judged("refused_policy", [quota]);
    }
    const { data } = report;
    const read = "problem" in data ? data : this.#readPayload(item.type, data);
    if ("problem" in read) {
      return judged("dropped_invalid", [read.problem]);
    }
    const payload = this.#takeChunk(read);
    const refusal =
      payload.kind === "artifact"
        ? this.#options.refuseArtifact(payload.artifact)
        : refusePayload(payload, this.#options);
    if (refusal !== undefined) {
      return judged(refusal.disposition, [refusal.problem]);
    }
    this.#bytes += payload.kind === "piece" ? Math.min(report.bytes, sizeOfChunk(payload.taken.chunk)) : report.bytes;
    return this.#apply(payload, item, batch);
  }

  #takeChunk(payload: RunnerPayload): TakenPayload {
    const { chunkContent = "auto" } = this.#options.grant.delivery;
    return payload.kind === "piece"
      ? { kind: "piece", taken: this.#output.readChunk(payload.chunk, chunkContent) }
      : payload;
  }

  #findQuota({ bytes }: Report, isBeyond: boolean): string | undefined {
    const { bytesMax } = this.#options.limits;
    if (isBeyond) {
      return this.#tooMany();
    }
    const isTooMuch = this.#bytes + bytes > bytesMax;
    return isTooMuch ? `${quotaWord}: ${bytesMax} bytes of results are the most of a run` : undefined;
  }

  #tooMany(): string {
    return `${quotaWord}: ${this.#options.limits.resultsMax} results are the most of a run`;
  }

  #readPayload(type: string, data: JsonDocument): RunnerPayload | { problem: string } {
    try {
      return readPayload(type, data, this.#options.newArtifactId);
    } catch (error) {
      if (error instanceof PayloadFault) {
        return { problem: error.message };
      }
      throw error;
    }
  }

  #apply(payload: TakenPayload, item: ReportedResult, batch: Batch): Judged {
    const { usage, problems } = tryReadingUsage(item.usage);
    const counted = { runnerSequence: item.sequence, usage };
    const { grant, stampApproval } = this.#options;
    const { isCancelled } = batch;
    const applied = applyPayload(payload, counted, { grant, output: this.#output, stampApproval, isCancelled });
    if (applied.payload !== undefined) {
      const { runnerSequence } = counted;
      batch.results.push({ payload: applied.payload, runnerSequence, ...(usage !== undefined && { usage }) });
    }
    if (applied.follow !== undefined) {
      batch.results.push({ payload: applied.follow });
    }
    if (applied.effect !== undefined) {
      batch.effects.push(applied.effect);
    }
    if (applied.end !== undefined) {
      this.#hasEnded = true;
      batch.end = applied.end;
    }
    return judged(applied.disposition, [...problems, ...(applied.warnings ?? [])]);
  }
}

/** What a chunk adds to the log: a runner that sends the text so far again and again sends far more. */
function sizeOfChunk(chunk: MessageChunk): number {
  const { content, source = "", providerSpecificFields = "" } = chunk;
  const texts = [content, source, providerSpecificFields, ...chunk.toolCalls.map((call) => call.arguments)];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), chunkFrameBytes);
}

/** The rest of a chunk, by and large. */
const chunkFrameBytes = 64;

/** A verdict has to stay short. */
const namesShownMax = 5;

function judged(disposition: Disposition, diagnostics: readonly string[] = []): Judged {
  return { disposition, diagnostics };
}

/** Usage that is invalid is left out, and so are members without a field here: the result counts. */
function tryReadingUsage(text: string | undefined): { usage: ResultInit["usage"]; problems: string[] } {
  try {
    const { usage, leftOut } = readUsage(text);
    const names = leftOut.slice(0, namesShownMax).join(", ");
    return { usage, problems: leftOut.length === 0 ? [] : [`usage: ${names} left out: not a known member`] };
  } catch (error) {
    if (error instanceof PayloadFault || error instanceof JsonTextError) {
      return { usage: undefined, problems: [`usage left out: ${error.message}`] };
    }
    throw error;
  }
}
