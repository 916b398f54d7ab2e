// Folds the log of a run into the result of a call: the same log gives the same result on every replica.

import { type ArtifactCreated, PlanEntry_Status, type PlanUpdated, type RunResult } from "#gen/runnel/v1/result_pb.js";
import { artifactIdOf } from "../in-process/agents.ts";
import { internalError, RpcError } from "../in-process/json-rpc.ts";
import { textOf } from "../in-process/message-text.ts";
import type { StartedRun } from "./start.ts";

/** The result of a call, as the protocol has it. */
export interface CallResult {
  readonly content: readonly object[];
  readonly structuredContent?: object;
  readonly isError?: boolean;
}

/** The end of a run: its result, or the error of a run whose agent gave none. */
export type CallEnd = { readonly result: CallResult } | { readonly error: RpcError };

interface Made {
  readonly sequence: bigint;
  readonly artifact: ArtifactCreated;
}

type Terminal = Extract<RunResult["payload"], { case: "runCompleted" | "runFailed" }>;

/** The log of a run, as far as it was read. */
export class CallFold {
  readonly #run: StartedRun;
  #made: Made[] = [];
  #terminal: Terminal | undefined;
  /** True while the log ends with a question or a wait. */
  isAsking = false;
  /** The sequence of the last entry. */
  sequence = 0;
  /** What the run does, for people; empty when there is nothing to say. */
  doing = "";

  constructor(run: StartedRun) {
    this.#run = run;
  }

  get hasEnded(): boolean {
    return this.#terminal !== undefined;
  }

  take({ sequence, payload }: RunResult): void {
    this.sequence = Number(sequence);
    // A runner asks while it works, and the agent loop waits.
    this.isAsking = payload.case === "approvalRequested" || payload.case === "runWaiting";
    switch (payload.case) {
      case "toolCallStarted":
        this.doing = `calls ${payload.value.toolName}`;
        break;
      case "childRunStarted":
        this.doing = `${payload.value.toolName} works as run ${payload.value.runId}`;
        break;
      case "handoffCompleted":
        this.doing = `${payload.value.toAgent} took over from ${payload.value.fromAgent}`;
        break;
      case "contextCompacted":
        this.doing = `has summarised ${payload.value.messages} messages`;
        break;
      case "planUpdated":
        this.doing = stepOf(payload.value) ?? this.doing;
        break;
      case "turnRestarted":
        this.#made = this.#made.filter((each) => each.sequence < payload.value.fromSequence);
        break;
      case "artifactCreated":
        this.#made.push({ sequence, artifact: payload.value });
        break;
      case "runCompleted":
      case "runFailed":
        this.#terminal = payload;
        break;
      default:
        break;
    }
  }

  /** Returns the end of an ended run. `readContent` reads the artifacts whose content is not in the log. */
  async end(readContent: (artifactId: string) => Promise<string | undefined>): Promise<CallEnd> {
    const blocks: object[] = [];
    for (const { sequence, artifact } of this.#made) {
      const content = artifact.contentBase64 ?? (await readContent(artifactIdOf(sequence, artifact)));
      blocks.push(blockOf(this.#run.runId, sequence, artifact, content));
    }
    if (this.#terminal?.case !== "runFailed") {
      const { message, output = "" } = this.#terminal?.value ?? {};
      return { result: this.#result(blocks, textOf(message) || output, "completed") };
    }
    const { code, error, output } = this.#terminal.value;
    if (isLost(code)) {
      return { error: new RpcError(internalError, error, { status: 200, data: { run_id: this.#run.runId, code } }) };
    }
    const text = [output, `The run failed: ${error} (${code})`].filter((each) => each !== "").join("\n\n");
    return { result: { ...this.#result(blocks, text, code === "cancelled" ? "cancelled" : "failed"), isError: true } };
  }

  #result(blocks: readonly object[], text: string, state: string): CallResult {
    const { runId, note } = this.#run;
    const said = text === "" && blocks.length > 0 ? [] : [{ type: "text", text }];
    const structuredContent = { run_id: runId, session_id: note.session_id, state };
    return { content: [...said, ...blocks], structuredContent };
  }
}

/** Returns the step that a plan is at; undefined for a plan without one. */
function stepOf({ entries }: PlanUpdated): string | undefined {
  return entries.find(({ status }) => status === PlanEntry_Status.IN_PROGRESS)?.text;
}

/** Whether a run ended without a word of its agent: the caller's request was right, and nothing answered it. */
function isLost(code: string): boolean {
  return code.startsWith("host.") || lostCodes.has(code);
}

const lostCodes: ReadonlySet<string> = new Set(["runner.no_terminal", "runner.disconnected", "runner.unavailable"]);

/** Returns the URI of an artifact. */
function artifactUri(runId: string, artifactId: string): string {
  return `runnel://runs/${runId}/artifacts/${encodeURIComponent(artifactId)}`;
}

function blockOf(runId: string, sequence: bigint, artifact: ArtifactCreated, content: string | undefined): object {
  const { mimeType = defaultType, name, sizeBytes } = artifact;
  const uri = artifactUri(runId, artifactIdOf(sequence, artifact));
  const [kind = ""] = mimeType.split("/", 1);
  if (content !== undefined && (kind === "image" || kind === "audio")) {
    return { type: kind, data: content, mimeType };
  }
  if (content !== undefined && content.length <= embeddedCharsMax) {
    return { type: "resource", resource: contentsOf(uri, artifact, content) };
  }
  const size = sizeBytes === undefined ? {} : { size: Number(sizeBytes) };
  return { type: "resource_link", uri, name: name ?? artifactIdOf(sequence, artifact), mimeType, ...size };
}

const defaultType = "application/octet-stream";

/** A larger artifact is a link: few models read as much. */
const embeddedCharsMax = 65_536;

/** Returns the content of an artifact, in base64, as a resource has it. */
export function contentsOf(uri: string, { mimeType = defaultType }: ArtifactCreated, content: string): object {
  return mimeType.startsWith("text/") || mimeType === "application/json"
    ? { uri, mimeType, text: Buffer.from(content, "base64").toString() }
    : { uri, mimeType, blob: content };
}
