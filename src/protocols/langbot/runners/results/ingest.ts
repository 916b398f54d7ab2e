// Decides about the results that the runner of one run reports (LangBot AgentRunner Protocol v1, §7). It is pure: its caller
// writes. An outcome must be durable before the runner is answered. If it cannot be made durable, the caller drops the Ingest;
// a new one recalls the log and the stored verdicts.
//
// I1  A number counts once, regardless of the outcome of its result. How results are cut into batches changes nothing.
// I2  Results enter the log in the order of their arrival: nothing waits for a missing number.
// I3  The first valid terminal result ends the run. Nothing after it counts, and no limit prevents it.
// I4  A result ends no run but its own, and no result throws.

import type { ReportedResult } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { MessageChunk } from "#gen/runnel/v1/message_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import type { ApprovalStamp } from "../../../../engine/approvals/request.ts";
import { isTerminal, type ResultInit } from "../../../../engine/log/result.ts";
import { JsonTextError } from "../../../../platform/base/json/text.ts";
import { applyPayload } from "./apply.ts";
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

/** Options of an Ingest. */
export interface IngestOptions extends Policy {
  readonly runId: string;
  readonly limits: IngestLimits;
  readonly newArtifactId: () => string;
  readonly stampApproval: () => ApprovalStamp;
  /** Returns why an artifact may not have the id that it names; undefined when it may. */
  readonly refuseArtifact: (artifact: NewArtifact) => Refusal | undefined;
}

/** Limits of one run. */
export interface IngestLimits {
  /** The maximum numbers that count, regardless of the outcome of their results. */
  readonly resultsMax: number;
  /** The maximum bytes of results that enter the log, as they were reported. */
  readonly bytesMax: number;
  /** The maximum kept verdicts on repetitions and on results beyond the end or a limit: their number has no bound. */
  readonly repeatedVerdictsMax: number;
}

/** The outcome of a batch of results. */
export interface IngestOutcome {
  /** One verdict for each item, in order. */
  readonly verdicts: readonly Verdict[];
  /** The verdicts to store. */
  readonly kept: readonly Verdict[];
  /** The results for the log, without the terminal result. */
  readonly results: readonly ResultInit[];
  readonly effects: readonly ResultEffect[];
  /** The end of the run, when this batch ended it. */
  readonly end: RunnerEnd | undefined;
}

/** An outcome that is still being built. */
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

/** The results of one run so far. */
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

  /** The number up to which all numbers were seen. */
  get ackedThrough(): number {
    return this.#seen.through;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Recalls an entry of the run's log that was written before this Ingest was made; `bytes` is the size of its row. The body
   * that was sent with its number is unknown, so a repetition is never called a conflict. All entries come in order and before
   * the first result; verdicts may come between them.
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

  /** Recalls a stored verdict. */
  recallVerdict(verdict: Pick<Verdict, "sequence" | "disposition" | "diagnostics">): void {
    this.#recallNumber(verdict.sequence);
    if (isRepeatable(verdict)) {
      this.#repeatedVerdicts += 1;
    }
  }

  /** Decides about a batch. `isCancelled`: the run is being cancelled, so the host decides how it ends. */
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
    // An invalid terminal result does not end the run, so beyond the limit their number has no bound.
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
    return isTooMuch ? `${quotaWord}: maximum ${bytesMax} bytes of results in a run` : undefined;
  }

  #tooMany(): string {
    return `${quotaWord}: maximum ${this.#options.limits.resultsMax} results in a run`;
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

/** Returns the bytes that a chunk adds to the log: a runner that repeats the text so far sends far more. */
function sizeOfChunk(chunk: MessageChunk): number {
  const { content, source = "", providerSpecificFields = "" } = chunk;
  const texts = [content, source, providerSpecificFields, ...chunk.toolCalls.map((call) => call.arguments)];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), chunkFrameBytes);
}

/** The approximate bytes of a chunk without its texts. */
const chunkFrameBytes = 64;

/** The maximum names in a verdict, which has to stay short. */
const namesShownMax = 5;

function judged(disposition: Disposition, diagnostics: readonly string[] = []): Judged {
  return { disposition, diagnostics };
}

/** Parses the usage. Invalid usage and unknown members are left out; the result still counts. */
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
