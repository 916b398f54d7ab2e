// A recording: everything that decided a finished run of the agent loop, as a file. Its results are the log's own bytes.

import { type DescMessage, fromJson, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { type Agent, AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { decodeResult } from "../../engine/log/result.ts";
import { Fault } from "../../platform/base/fault.ts";
import { parseObject } from "../../platform/base/json/parse-object.ts";

/** A finished run. */
export interface Recording {
  readonly runId: string;
  readonly agent: Agent;
  /** The messages of the session up to the run's input, the input included. */
  readonly messages: readonly Message[];
  /** The log, as it is stored. */
  readonly log: readonly Uint8Array[];
}

const format = "runnel-recording/1";

/** Returns the text of a recording. */
export function printRecording({ runId, agent, messages, log }: Recording): string {
  const recording = {
    format,
    run_id: runId,
    agent: toJson(AgentSchema, agent, { useProtoFieldName: true }),
    messages: messages.map((message) => toJson(MessageSchema, message, { useProtoFieldName: true })),
    log: log.map((bytes) => Buffer.from(bytes).toString("base64")),
  };
  return `${JSON.stringify(recording, null, 2)}\n`;
}

/** Reads the text of a recording. Throws Fault INVALID_ARGUMENT for any other text. */
export function readRecording(text: string): Recording {
  const json = parseObject(text) as Partial<Record<string, unknown>> | undefined;
  const { run_id: runId, agent, messages, log } = json ?? {};
  if (json?.format !== format || typeof runId !== "string" || !Array.isArray(messages) || !Array.isArray(log)) {
    throw new Fault("INVALID_ARGUMENT", `not a recording of this version: its format must be "${format}"`);
  }
  try {
    return {
      runId,
      agent: read(AgentSchema, agent),
      messages: messages.map((message) => read(MessageSchema, message)),
      log: log.map((bytes) => Buffer.from(String(bytes), "base64")),
    };
  } catch (error) {
    throw new Fault("INVALID_ARGUMENT", "the recording cannot be read", { cause: error });
  }
}

function read<Desc extends DescMessage>(desc: Desc, json: unknown): MessageShape<Desc> {
  return fromJson(desc, json as Parameters<typeof fromJson>[1]);
}

/** An entry of a log with its bytes. */
export interface RecordedEntry {
  readonly result: RunResult;
  readonly bytes: Uint8Array;
}

/** Entries that the loop does not write, or that come from tools and approvals: a replay has only the outcomes of the calls. */
const outside: ReadonlySet<RunResult["payload"]["case"]> = new Set([
  "resultLost",
  "runWaiting",
  "childRunStarted",
  "approvalRequested",
  "stateUpdated",
  "planUpdated",
  "contextCompacted",
  "handoffCompleted",
  "skillsListed",
  "toolsChanged",
]);

/** Returns the entries that count: without those that a turn left behind when it began again. */
export function entriesThatCount({ log }: Recording): RecordedEntry[] {
  let entries: RecordedEntry[] = [];
  for (const bytes of log) {
    const result = decodeResult(bytes);
    if (result.payload.case === "turnRestarted") {
      const { fromSequence } = result.payload.value;
      entries = entries.filter((each) => each.result.sequence < fromSequence);
    } else if (!outside.has(result.payload.case)) {
      entries.push({ result, bytes });
    }
  }
  return entries;
}
