// Starts runs of threads, joins those that exist, and streams them.

import { create } from "@bufbuild/protobuf";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { type Agent, AgentToolsSchema, FunctionToolSchema } from "#gen/runnel/v1/session_pb.js";
import { type SessionMessage, SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import { pageSizeMax, readPages } from "../../platform/base/lists.ts";
import type { Calls } from "../in-process/calls.ts";
import { sendFirst } from "../in-process/first-message.ts";
import { followLog } from "../in-process/follow-log.ts";
import { answerInterrupts, assertNoInterrupt, resultsBefore } from "../in-process/interrupts.ts";
import { type Branch, branchIdOf, findBranch } from "../in-process/named-session.ts";
import { RunRefused } from "../in-process/run-refused.ts";
import { describeFailure, isReason } from "../rest/failure.ts";
import { endStream, type RestResponse, setHead } from "../rest/respond.ts";
import { sseHeartbeat } from "../rest/sse.ts";
import { type StreamedAnswer, streamHeaders, writeText } from "../rest/streamed-answer.ts";
import { type AgUiEvent, printFrame, runError } from "./events.ts";
import { AgUiFold, type RunName } from "./fold.ts";
import type { RunInput } from "./input.ts";
import {
  annotate,
  findNewInput,
  fromMessage,
  listRuns,
  type NewInput,
  readRun,
  readTranscript,
  type ThreadRun,
} from "./thread.ts";

const sessions = SessionService.method;
const runs = RunService.method;

/** A call of the surface. */
export interface AgUiCall extends StreamedAnswer {
  readonly calls: Calls;
  readonly input: RunInput;
  /** `Last-Event-ID`; undefined without one. */
  readonly lastEventId: string | undefined;
}

/** `POST …/{agent}`: starts a run of the thread, or joins the run of this id. */
export async function answerRun(call: AgUiCall, preset: Agent): Promise<void> {
  const { calls, input } = call;
  const branch = await findBranch(calls, input.threadId);
  // Read before the run is looked for: so the messages of a run that another call starts meanwhile do not look like an edit.
  const transcript = branch === undefined ? [] : await readTranscript(calls, branch.sessionId);
  const [newest] = branch === undefined ? [] : await listRuns(calls, branch.sessionId, 1);
  if (branch !== undefined && newest?.note?.run_id === input.runId) {
    await join(call, branch.sessionId, newest);
    return;
  }
  if (input.resume.length > 0) {
    await resume(call, branch);
    return;
  }
  if (newest !== undefined) {
    await assertNoInterrupt(calls, newest.runId);
  }
  const started = await start(call, preset, { branch, newest, transcript });
  if ("known" in started) {
    await join(call, started.sessionId, started.known);
  } else {
    await stream(call, await nameRun(call, started.sessionId, started.runId), { kind: "whole" });
  }
}

/** `POST …/connect`: joins the newest run of the thread, or sends the finished thread. */
export async function answerConnect(call: AgUiCall): Promise<void> {
  const { calls, input } = call;
  const branch = await findBranch(calls, input.threadId);
  const [newest] = branch === undefined ? [] : await listRuns(calls, branch.sessionId, 1);
  if (branch === undefined || newest === undefined) {
    const { threadId, runId } = input;
    await sendAll(call.response, [
      { type: "RUN_STARTED", threadId, runId },
      { type: "MESSAGES_SNAPSHOT", messages: [] },
      { type: "RUN_FINISHED", threadId, runId, outcome: { type: "success" } },
    ]);
    return;
  }
  await join(call, branch.sessionId, newest);
}

/** `POST …/stop/{threadId}`: cancels the newest run of the thread. */
export async function stopThread(calls: Calls, threadId: string): Promise<void> {
  const branch = await findBranch(calls, threadId);
  const [newest] = branch === undefined ? [] : await listRuns(calls, branch.sessionId, 1);
  if (newest === undefined) {
    throw new Fault("SESSION_NOT_FOUND", "session not found");
  }
  await calls.call(runs.cancelRun, { runId: newest.runId });
}

/** Answers with these events alone. */
export async function sendAll(response: RestResponse, events: readonly AgUiEvent[]): Promise<void> {
  setHead(response, 200, streamHeaders);
  endStream(response, events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(""));
}

async function findRun(calls: Calls, sessionId: string, runId: string): Promise<ThreadRun | undefined> {
  return (await listRuns(calls, sessionId, searchedRuns)).find(({ note }) => note?.run_id === runId);
}

type Started =
  | { readonly sessionId: string; readonly runId: string }
  | { readonly sessionId: string; readonly known: ThreadRun };

/** A thread as it is. */
interface Thread {
  readonly branch: Branch | undefined;
  readonly newest: ThreadRun | undefined;
  readonly transcript: readonly SessionMessage[];
}

async function start({ calls, input }: AgUiCall, preset: Agent, thread: Thread): Promise<Started> {
  const { threadId, runId, messages, tools, instructions } = input;
  const { branch, transcript } = thread;
  const fresh = findNewInput(transcript, messages);
  const successor = await findSuccessor(calls, preset, thread);
  const { systemPrompt, tools: own = create(AgentToolsSchema) } = successor ?? preset;
  const { sessionId, isNew } = await openBranch(calls, input, preset, branch, fresh);
  const parent = await findParent(calls, transcript, fresh);
  const told = instructions === "" || systemPrompt === "" ? instructions : `${instructions}\n\n`;
  const request = {
    sessionId,
    messages: fresh.messages,
    agent: {
      systemPrompt: told + systemPrompt,
      tools: { ...own, functions: [...own.functions, ...tools.map((tool) => create(FunctionToolSchema, tool))] },
    },
    requestId: requestIdOf(threadId, runId),
    annotations: annotate({
      thread_id: threadId,
      run_id: runId,
      ...(parent !== undefined && { parent_run_id: parent }),
      preset: preset.name,
      agent: branch?.agentName ?? preset.name,
      prompt_at: told.length,
      ...(successor !== undefined && { is_handed_over: true }),
    }),
  };
  const send = () => calls.call(sessions.sendMessage, request);
  try {
    return await (isNew ? sendFirst(calls, sessionId, send) : send());
  } catch (error) {
    if (isReason(error, "REQUEST_ID_REUSED")) {
      // Another call with the same ids has started the run meanwhile.
      const known = await findRun(calls, sessionId, runId);
      if (known !== undefined) {
        return { sessionId, known };
      }
    }
    if (isReason(error, "INVALID_ARGUMENT", "TOOL_UNKNOWN", "MODEL_UNSUPPORTED")) {
      const { message, reason = "INVALID_ARGUMENT" } = describeFailure(error);
      throw new RunRefused(reason, message);
    }
    throw error;
  }
}

/** Returns the agent to which the preset has handed the conversation over; undefined while the preset has it. */
async function findSuccessor(
  calls: Calls,
  { name }: Agent,
  { branch, newest }: Thread,
): Promise<Successor | undefined> {
  const { preset, agent: first, is_handed_over: wasHandedOver = false, prompt_at: promptAt = 0 } = newest?.note ?? {};
  const handsOver = branch?.agentName !== first;
  if (newest === undefined || preset !== name || !(wasHandedOver || handsOver)) {
    return undefined;
  }
  const { agent } = await calls.call(runs.getRunInput, { runId: newest.runId });
  // An agent that took over in the newest run has its prompt alone. The functions of a later run are the client's.
  const systemPrompt = agent?.systemPrompt.slice(handsOver ? 0 : promptAt) ?? "";
  return { systemPrompt, tools: { ...(agent?.tools ?? create(AgentToolsSchema)), functions: [] } };
}

/** The settings of an agent that a run replaces. */
type Successor = Pick<Agent, "systemPrompt" | "tools">;

/** How many runs of a thread are searched for one of an id. */
const searchedRuns = 20;

/** Returns the client's id of the run from which a fork continues; undefined when nothing is left out. */
async function findParent(
  calls: Calls,
  transcript: readonly SessionMessage[],
  { forkAt }: NewInput,
): Promise<string | undefined> {
  const last = forkAt === undefined ? undefined : transcript.findLast(({ number }) => number <= forkAt);
  return last === undefined ? undefined : (await readRun(calls, last.runId)).note?.run_id;
}

/** Returns the session that takes the new messages: the thread's newest, a fork of it, or a new one. */
async function openBranch(
  calls: Calls,
  { threadId }: RunInput,
  { name: preset }: Agent,
  branch: Branch | undefined,
  { forkAt }: NewInput,
): Promise<{ readonly sessionId: string; readonly isNew: boolean }> {
  if (branch !== undefined && forkAt === undefined) {
    return { sessionId: branch.sessionId, isNew: false };
  }
  const sessionId = branchIdOf(threadId, branch === undefined ? 0 : branch.number + 1);
  const isFork = branch !== undefined && forkAt !== undefined && forkAt > 0;
  const origin = isFork ? { fork: { sessionId: branch.sessionId, messageCount: forkAt } } : { preset };
  try {
    await calls.call(sessions.createSession, { sessionId, ...origin });
    return { sessionId, isNew: true };
  } catch (error) {
    // Another call has made it meanwhile.
    if (!isReason(error, "SESSION_EXISTS")) {
      throw error;
    }
    return { sessionId, isNew: false };
  }
}

/** A request id has at most 128 bytes. */
function requestIdOf(threadId: string, runId: string): string {
  const whole = `ag-ui ${JSON.stringify([threadId, runId])}`;
  return Buffer.byteLength(whole) <= 128 ? whole : `ag-ui ${branchIdOf(`${whole} `)}`;
}

async function nameRun({ calls, input }: AgUiCall, sessionId: string, runId: string): Promise<RunName> {
  const [{ run }, { note }] = [await calls.call(runs.getRun, { runId }), await readRun(calls, runId)];
  return {
    threadId: input.threadId,
    runId: note?.run_id ?? input.runId,
    parentRunId: note?.parent_run_id,
    ownRunId: runId,
    sessionId,
    isV1: input.isV1,
    model: run?.model ?? "",
    state: input.state,
  };
}

/** Takes the answers to interrupts, and goes on after the place at which the run waited. */
async function resume(call: AgUiCall, branch: Branch | undefined): Promise<void> {
  const { calls, input } = call;
  if (branch === undefined) {
    throw new RunRefused("interrupt_unknown", "the thread has no interrupt");
  }
  const ownRunId = await answerInterrupts(calls, branch.sessionId, input.resume);
  const name = { ...(await nameRun(call, branch.sessionId, ownRunId)), runId: input.runId, parentRunId: undefined };
  await stream(call, name, { kind: "resumed", after: readPlace(call.lastEventId, ownRunId) });
}

/** Goes on after the client's last event, or shows the messages so far and goes on from there. */
async function join(call: AgUiCall, sessionId: string, known: ThreadRun): Promise<void> {
  const name = await nameRun(call, sessionId, known.runId);
  const place = readPlace(call.lastEventId, known.runId);
  await stream(call, name, place === undefined ? { kind: "join" } : { kind: "after", ...place });
}

/** A place in the stream of a run: a result, and how many of its events were received. */
interface Place {
  readonly sequence: number;
  readonly events: number;
}

function readPlace(id: string | undefined, runId: string): Place | undefined {
  const [, run, sequence, events] = /^([0-9a-f-]{36})\.(\d{1,15})\.(\d{1,6})$/.exec(id ?? "") ?? [];
  return run === runId ? { sequence: Number(sequence), events: Number(events) } : undefined;
}

type Beginning =
  | { readonly kind: "whole" }
  | { readonly kind: "join" }
  | ({ readonly kind: "after" } & Place)
  | { readonly kind: "resumed"; readonly after: Place | undefined };

/** Marks the frames of a join as after all events of their result. */
const allEvents = 999_999;

/** Streams the events of a run until it ends or waits for approvals. */
async function stream(call: AgUiCall, name: RunName, beginning: Beginning): Promise<void> {
  const { calls, response } = call;
  const fold = new AgUiFold(name);
  const { ownRunId: runId } = name;
  const print = (sequence: number, events: readonly AgUiEvent[]): string =>
    events
      .map((each, index) =>
        isAfter(beginning, sequence, index) ? printFrame(`${runId}.${sequence}.${index}`, each) : "",
      )
      .join("");
  let reached = 0;
  if (beginning.kind === "join" || beginning.kind === "resumed") {
    reached = await catchUp(call, name, fold, beginning.kind);
    const frames = beginning.kind === "join" ? [...fold.open(), ...fold.join()] : fold.resume();
    const isNew = beginning.kind === "join" || beginning.after === undefined;
    setHead(response, 200, streamHeaders);
    await writeText(
      call,
      isNew ? frames.map((each) => printFrame(`${runId}.${reached}.${allEvents}`, each)).join("") : sseHeartbeat,
    );
  }
  const opening = reached > 0 || beginning.kind === "join" ? "" : print(0, fold.open());
  try {
    for await (const results of followLog(calls, runId)) {
      if (!response.headersSent) {
        setHead(response, 200, streamHeaders);
        await writeText(call, opening || sseHeartbeat);
      } else if (results.length === 0) {
        await writeText(call, sseHeartbeat);
      }
      const next = results.filter(({ sequence }) => Number(sequence) > reached);
      if (next.some(({ payload }) => payload.case === "turnRestarted")) {
        fold.history = await readHistory(calls, name);
      }
      let text = "";
      for (const result of next) {
        const sequence = Number(result.sequence);
        text += print(sequence, fold.take(result));
        if (fold.isOver && !isBefore(beginning, sequence)) {
          break;
        }
      }
      await writeText(call, text);
      // A run that waits for approvals has ended for this client.
      if (fold.isOver && !isBefore(beginning, Number(next.at(-1)?.sequence ?? 0))) {
        break;
      }
    }
    endStream(response, "");
  } catch (error) {
    if (calls.signal.aborted || !response.headersSent) {
      throw error;
    }
    // A client takes an end without an error for success.
    const { reason = "INTERNAL", message } = describeFailure(error);
    const code = reason === "RESUME" ? "resume" : reason;
    endStream(response, `data: ${JSON.stringify(runError(code, message))}\n\n`);
  }
}

function isAfter(beginning: Beginning, sequence: number, index: number): boolean {
  const place = placeOf(beginning);
  return place === undefined || sequence > place.sequence || (sequence === place.sequence && index > place.events);
}

/** Returns whether the client has events of results after this one. */
function isBefore(beginning: Beginning, sequence: number): boolean {
  return sequence < (placeOf(beginning)?.sequence ?? 0);
}

function placeOf(beginning: Beginning): Place | undefined {
  return beginning.kind === "after" ? beginning : beginning.kind === "resumed" ? beginning.after : undefined;
}

/**
 * Gives the fold everything that the log has, except an end or a wait that is its last result; for a resumed run everything up
 * to the place at which it waited. Returns the sequence that the fold has reached.
 */
async function catchUp(
  { calls, input }: AgUiCall,
  name: RunName,
  fold: AgUiFold,
  kind: "join" | "resumed",
): Promise<number> {
  fold.history = await readHistory(calls, name);
  const { ownRunId: runId } = name;
  const results = await readPages(async (pageToken) => {
    const page = await calls.call(runs.listRunResults, { runId, pageSize: pageSizeMax, pageToken });
    return { items: page.results, nextPageToken: page.nextPageToken };
  });
  const before =
    kind === "resumed"
      ? resultsBefore(results, input.resume)
      : results.slice(0, isStop(results.at(-1)) ? -1 : undefined);
  for (const result of before) {
    fold.take(result);
  }
  return Number(before.at(-1)?.sequence ?? 0);
}

function isStop(result: RunResult | undefined): boolean {
  const what = result?.payload.case;
  return what === "runCompleted" || what === "runFailed" || what === "runWaiting";
}

/** Returns the messages of the thread up to the input of a run. */
async function readHistory(calls: Calls, { sessionId, ownRunId }: RunName) {
  const { inputLength } = await readRun(calls, ownRunId);
  const transcript = await readTranscript(calls, sessionId);
  const first = transcript.findIndex(({ runId }) => runId === ownRunId);
  return transcript.slice(0, first === -1 ? undefined : first + inputLength).flatMap(fromMessage);
}
