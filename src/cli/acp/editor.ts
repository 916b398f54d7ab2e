// The requests of an editor: an ACP session is a session of the service, with the same id, so it outlives the editor.

import { randomUUID } from "node:crypto";
import {
  type AgentContext,
  type ContentBlock,
  type ListSessionsResponse,
  type McpServer,
  type PromptRequest,
  RequestError,
  type SessionConfigOption,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import type { RunFailed } from "#gen/runnel/v1/result_pb.js";
import type { Service } from "../connect.ts";
import { cut } from "../shorten.ts";
import { sayLine } from "../terminal.ts";
import { Conversation } from "./conversation.ts";
import { type Note, printNote, readNote } from "./note.ts";
import { assertChoice, optionsOf, ownModel, readChoices } from "./options.ts";
import { invalid } from "./refusals.ts";

/** What the requests are answered with. */
export interface EditorContext {
  readonly service: Service;
  /** Whether the tools work in the editor's directory. */
  readonly inProject: boolean;
  /** Aborts when the editor is gone. */
  readonly signal: AbortSignal;
}

/** A session that is open in the editor. */
interface OpenSession {
  readonly conversation: Conversation;
  agent: string;
  note: Note;
  isBegun: boolean;
}

interface Place {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[];
  readonly additionalDirectories?: readonly string[];
}

/** The sessions of one editor. */
export class Editor {
  readonly #context: EditorContext;
  readonly #open = new Map<string, OpenSession>();

  constructor(context: EditorContext) {
    this.#context = context;
  }

  /** `session/new`: with the first agent of the service. */
  async begin(place: Place, client: AgentContext) {
    assertOffered(place);
    const { cwd, mcpServers = [] } = place;
    const { service, inProject } = this.#context;
    const { agents } = await readChoices(service);
    const [agent = ""] = agents;
    const note: Note = { cwd, ...(inProject && { in_project: true }) };
    const sessionId = randomUUID();
    await this.#create(sessionId, agent, note);
    this.#keep(sessionId, client, { agent, note, isBegun: false });
    leaveOut(mcpServers);
    return { sessionId, configOptions: await this.#optionsOf(sessionId) };
  }

  /** `session/load`, which replays the history, and `session/resume`, which does not. */
  async reopen(sessionId: string, place: Place, client: AgentContext, replays: boolean) {
    assertOffered(place);
    const { cwd, mcpServers = [] } = place;
    const { session } = await this.#context.service.sessions.getSession({ sessionId });
    const note = (session && readNote(session)) ?? { cwd };
    const kept = this.#keep(sessionId, client, { agent: session?.name ?? "", note, isBegun: false });
    leaveOut(mcpServers);
    kept.isBegun = await kept.conversation.open({ replays });
    return { configOptions: await this.#optionsOf(sessionId) };
  }

  /** `session/list`: the sessions that editors began, newest first. */
  async list(cwd: string | undefined, cursor: string | undefined): Promise<ListSessionsResponse> {
    const page = await this.#context.service.sessions.listSessions({ pageToken: cursor ?? "" });
    const sessions = page.sessions.flatMap((session) => {
      const note = readNote(session);
      const isWanted = note !== undefined && (cwd === undefined || cwd === note.cwd);
      return isWanted ? [{ sessionId: session.sessionId, cwd: note.cwd, title: note.title ?? null }] : [];
    });
    return { sessions, nextCursor: page.nextPageToken === "" ? null : page.nextPageToken };
  }

  /** `session/delete`: also cancels an active run. */
  async delete(sessionId: string): Promise<void> {
    await this.#context.service.sessions.deleteSession({ sessionId });
    this.#open.get(sessionId)?.conversation.close();
    this.#open.delete(sessionId);
  }

  /** `session/set_config_option`. */
  async choose(sessionId: string, id: string, value: string | boolean): Promise<SessionConfigOption[]> {
    const session = this.#sessionOf(sessionId);
    assertChoice(await this.#optionsOf(sessionId), id, value);
    if (id === "model") {
      const { model: _, ...note } = session.note;
      session.note = value === ownModel ? note : { ...note, model: String(value) };
      await this.#write(sessionId, session.note);
    } else if (value !== session.agent) {
      // The session is empty: another one takes its place.
      session.agent = String(value);
      await this.#context.service.sessions.deleteSession({ sessionId });
      await this.#create(sessionId, session.agent, session.note);
    }
    return await this.#optionsOf(sessionId);
  }

  /** `session/prompt`. Throws RequestError when the run failed. */
  async prompt({ sessionId, prompt }: PromptRequest, client: AgentContext): Promise<StopReason> {
    const session = this.#sessionOf(sessionId);
    const runId = await session.conversation.send(prompt, session.note.model);
    if (!session.isBegun) {
      await this.#entitle(sessionId, session, prompt, client);
    }
    const end = await session.conversation.follow(runId);
    if ("failure" in end) {
      throw refusalOfRun(end.failure);
    }
    return end.stopReason;
  }

  /** `session/cancel`. */
  async cancel(sessionId: string): Promise<void> {
    await this.#open.get(sessionId)?.conversation.cancel();
  }

  /** Names a session by its first prompt. From then on its agent is fixed. */
  async #entitle(sessionId: string, session: OpenSession, prompt: readonly ContentBlock[], client: AgentContext) {
    const [first = ""] = prompt.flatMap((each) => (each.type === "text" ? [each.text] : []));
    const title = cut(first.trim(), titleCharsMax);
    session.isBegun = true;
    session.note = { ...session.note, title };
    await this.#write(sessionId, session.note);
    const tell = (update: SessionUpdate) => client.notify("session/update", { sessionId, update });
    await tell({ sessionUpdate: "session_info_update", title });
    await tell({ sessionUpdate: "config_option_update", configOptions: await this.#optionsOf(sessionId) });
  }

  async #create(sessionId: string, preset: string, note: Note): Promise<void> {
    const workDir = note.in_project === true ? { workDir: note.cwd } : {};
    await this.#context.service.sessions.createSession({ sessionId, preset, annotations: printNote(note), ...workDir });
  }

  /** Another program may have annotated the session as well. */
  async #write(sessionId: string, note: Note): Promise<void> {
    const { sessions } = this.#context.service;
    const { session } = await sessions.getSession({ sessionId });
    await sessions.updateSession({ sessionId, annotations: printNote(note, session?.annotations) });
  }

  #keep(sessionId: string, client: AgentContext, about: Omit<OpenSession, "conversation">): OpenSession {
    const { service, signal } = this.#context;
    const directory = about.note.in_project === true ? about.note.cwd : undefined;
    const conversation = new Conversation({ service, client, signal, sessionId, directory });
    const session = { ...about, conversation };
    this.#open.get(sessionId)?.conversation.close();
    this.#open.set(sessionId, session);
    return session;
  }

  #sessionOf(sessionId: string): OpenSession {
    const session = this.#open.get(sessionId);
    if (session === undefined) {
      const message = `session ${sessionId} is not open: load it, or begin a new one`;
      throw new RequestError(RequestError.sessionNotFound(sessionId).code, message, { sessionId });
    }
    return session;
  }

  async #optionsOf(sessionId: string): Promise<SessionConfigOption[]> {
    const { agent, note, isBegun } = this.#sessionOf(sessionId);
    return optionsOf(await readChoices(this.#context.service), { agent, model: note.model, isBegun });
  }
}

const titleCharsMax = 80;

/** Throws RequestError for a part of a session that `initialize` does not offer. */
function assertOffered({ mcpServers = [], additionalDirectories = [] }: Place): void {
  const index = mcpServers.findIndex((server) => "type" in server);
  if (index !== -1) {
    throw invalid(`invalid mcpServers[${index}]: this agent does not offer mcpCapabilities: leave the server out`);
  }
  if (additionalDirectories.length > 0) {
    throw invalid("invalid additionalDirectories: the tools of an agent work in one directory: leave them out");
  }
}

/** The service cannot start programs of the editor's machine, and its agents have tools of their own. */
function leaveOut(servers: readonly McpServer[]): void {
  if (servers.length > 0) {
    const names = servers.map(({ name }) => name).join(", ");
    sayLine(`MCP servers of the editor are left out: ${names}. Give them to the agent in the settings of the service.`);
  }
}

function refusalOfRun({ error, code, retryable }: RunFailed): RequestError {
  const fix = retryable ? "send the message again" : "change the message, the agent or the model";
  return new RequestError(RequestError.internalError().code, `${error} (${code}): ${fix}`, {
    reason: code,
    fix,
    retryable,
  });
}
