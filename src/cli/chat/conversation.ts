// A conversation in the terminal: its session, and the settings of its next runs. The session begins with the first message.

import { create } from "@bufbuild/protobuf";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { type Agent, AgentSchema } from "#gen/runnel/v1/session_pb.js";
import type { SendMessageResponse } from "#gen/runnel/v1/session_service_pb.js";
import { systemClock } from "../../platform/base/clock.ts";
import { type AgentFlags, createSession } from "../agent-flags.ts";
import { CommandError } from "../command-error.ts";
import { reasonOf, type Service } from "../connect.ts";
import { exitCodes } from "../exit-codes.ts";
import { explain } from "../failure.ts";
import { createSignalJudge } from "../interrupt.ts";
import { withModelHint } from "../models.ts";
import type { Output } from "../output.ts";
import { printRun } from "../print-run.ts";
import { sendFirst } from "../send-first.ts";
import type { TextStyle } from "../show.ts";

/** What a conversation is built on. */
export interface ConversationOptions {
  readonly service: Service;
  readonly flags: AgentFlags;
  readonly output: Output;
  /** Whether a person is at the terminal. */
  readonly isPerson: boolean;
  /** Creates the style of a run's text. */
  readonly createStyle: () => TextStyle;
}

/** The runs of a session that are shown when it is resumed. */
const shownRunsMax = 3;

/** One conversation. */
export class Conversation {
  readonly #options: ConversationOptions;
  #flags: AgentFlags;
  /** The model of the next runs; empty for that of the agent. */
  #model: string;
  /** The settings with which the runs of a resumed session replace those of its agent. */
  #replacements: Agent | undefined;
  #sessionId: string | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#flags = options.flags;
    this.#model = options.flags.model;
  }

  /** Undefined before the first message. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  get service(): Service {
    return this.#options.service;
  }

  /** Prints a note. */
  say(text: string): void {
    this.#options.output.note(text);
  }

  /** Sends a message and prints its run. */
  async send(message: string): Promise<void> {
    const { service, output, isPerson } = this.#options;
    const { sessionId, runId } = await withModelHint(service, this.#model, () => this.#send(message));
    if (!isPerson) {
      output.note(`session ${sessionId}  run ${runId}`, { note: "started", session_id: sessionId, run_id: runId });
    }
    await this.#print(runId);
  }

  async #send(message: string): Promise<SendMessageResponse> {
    const { output } = this.#options;
    const { sessions } = this.service;
    const replaced = this.#replacements;
    const agent = this.#model === "" ? replaced : { ...(replaced ?? create(AgentSchema)), model: this.#model };
    const send = (sessionId: string) => sessions.sendMessage({ sessionId, message, ...(agent && { agent }) });
    if (this.#sessionId !== undefined) {
      return await send(this.#sessionId);
    }
    this.#sessionId = await createSession(sessions, this.#flags, output.asJson);
    return await sendFirst(sessions, this.#sessionId, send).catch((error: unknown) => {
      if (reasonOf(error) !== undefined) {
        this.#sessionId = undefined;
      }
      throw error;
    });
  }

  /** Continues another session: prints the end of its conversation, and the run that is active. */
  async resume(sessionId: string, replacements?: Agent): Promise<void> {
    const { service, output, isPerson, createStyle } = this.#options;
    await service.sessions.getSession({ sessionId });
    this.#replacements = replacements;
    this.#sessionId = sessionId;
    if (!isPerson) {
      return;
    }
    const { runs } = await service.runs.listRuns({ sessionId, pageSize: shownRunsMax });
    for (const run of runs.reverse()) {
      const style = createStyle();
      const answer = `${style.write(run.output || run.error)}${style.end()}`;
      await output.answer(undefined, (paint) => `${paint("bold", `> ${run.inputExcerpt}`)}\n${answer}`);
      if (activeStates.has(run.state)) {
        await this.#print(run.runId);
      }
    }
  }

  /** Uses a model for the next runs. */
  useModel(name: string): void {
    this.#model = name;
  }

  /** Lets another agent of the service answer. A conversation that has begun goes on in a fork. */
  async useAgent(name: string): Promise<void> {
    this.#flags = { ...this.#flags, agent: name };
    if (this.#sessionId !== undefined) {
      await this.fork(name);
    }
  }

  /** Goes on in a copy of the session. The settings of a preset replace those of the conversation. */
  async fork(preset = ""): Promise<void> {
    const origin = this.#sessionId;
    if (origin === undefined) {
      throw new CommandError("nothing was said yet", { reason: "USAGE", fix: "send a message first" });
    }
    const { workDir } = this.#flags;
    const request = { fork: { sessionId: origin }, preset, ...(workDir !== undefined && { workDir }) };
    const { sessionId } = await this.service.sessions.createSession(request);
    this.#sessionId = sessionId;
    if (preset !== "") {
      this.#replacements = undefined;
    }
    this.say(`session ${sessionId} goes on from here; ${origin} stays as it is`);
  }

  /** Prints a run to its end. Ctrl-C cancels it; a second decision stops the printing. */
  async #print(runId: string): Promise<void> {
    const { service, output, isPerson, createStyle } = this.#options;
    const left = new AbortController();
    const judge = createSignalJudge(systemClock);
    const onInterrupt = (): void => {
      const verdict = judge();
      if (verdict === "first") {
        this.say("\ncancelling the run");
        service.runs.cancelRun({ runId }).catch((error: unknown) => this.say(`not cancelled: ${explain(error).error}`));
      } else if (verdict === "decision") {
        left.abort();
      }
    };
    if (isPerson) {
      process.on("SIGINT", onInterrupt);
    }
    try {
      const { signal } = left;
      const last = await printRun(service, { runId, after: 0n, output, signal, style: createStyle() });
      if (last?.payload.case === "runFailed" && !isPerson) {
        process.exitCode = exitCodes.followedFailed;
      }
    } finally {
      process.off("SIGINT", onInterrupt);
    }
  }
}

const activeStates: ReadonlySet<Run_State> = new Set([Run_State.QUEUED, Run_State.RUNNING, Run_State.WAITING]);
