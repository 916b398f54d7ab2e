// An agent that speaks A2A by the official SDK's server, unmodified, on a socket. The words of a message say what it does.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { type AgentCard, formatSSEEvent, type Part, Role, SSE_HEADERS, TaskState } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import {
  AgentEvent,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from "@a2a-js/sdk/server";

/** The agent, and what it has seen. */
export interface A2aServer {
  readonly origin: string;
  /** The texts of the messages that it has begun to work on, without their beginning. */
  readonly begun: readonly string[];
  /** The states of its tasks, newest last. */
  readonly states: readonly TaskState[];
  /** The headers of its requests, by method of the protocol. */
  readonly headers: ReadonlyMap<string, IncomingHttpHeaders>;
  /** Ends the waits of all messages. */
  release(): void;
  /** Closes all connections; its tasks go on. */
  cut(): void;
  close(): void;
}

/** A task at work. */
class Turn {
  readonly #context: RequestContext;
  readonly #bus: ExecutionEventBus;
  readonly #onState: (state: TaskState) => void;

  constructor(context: RequestContext, bus: ExecutionEventBus, onState: (state: TaskState) => void) {
    this.#context = context;
    this.#bus = bus;
    this.#onState = onState;
  }

  get #ids() {
    return { taskId: this.#context.taskId, contextId: this.#context.contextId };
  }

  begin(): void {
    const { taskId: id, contextId } = this.#ids;
    const rest = { artifacts: [], history: [], metadata: undefined };
    this.#bus.publish(
      AgentEvent.task({ id, contextId, ...rest, status: this.#status(TaskState.TASK_STATE_SUBMITTED) }),
    );
  }

  set(state: TaskState, ...parts: Part[]): void {
    this.#onState(state);
    this.#bus.publish(
      AgentEvent.statusUpdate({ ...this.#ids, status: this.#status(state, parts), metadata: undefined }),
    );
  }

  show(artifactId: string, parts: Part[], { append = false, lastChunk = false } = {}): void {
    const artifact = { artifactId, name: "", description: "", parts, metadata: undefined, extensions: [] };
    this.#bus.publish(AgentEvent.artifactUpdate({ ...this.#ids, artifact, append, lastChunk, metadata: undefined }));
  }

  reply(text: string): void {
    this.#bus.publish(AgentEvent.message({ ...this.#message([textPart(text)]), taskId: "" }));
  }

  #status(state: TaskState, parts: Part[] = []) {
    return {
      state,
      message: parts.length === 0 ? undefined : this.#message(parts),
      timestamp: new Date().toISOString(),
    };
  }

  #message(parts: Part[]) {
    const rest = { metadata: undefined, extensions: [], referenceTaskIds: [] };
    return { ...rest, ...this.#ids, messageId: crypto.randomUUID(), role: Role.ROLE_AGENT, parts };
  }
}

const unnamed = { filename: "", mediaType: "", metadata: undefined };

function textPart(value: string): Part {
  return { ...unnamed, content: { $case: "text", value } };
}

type Act = (turn: Turn, told: { readonly wait: () => Promise<void>; readonly all: readonly string[] }) => unknown;

const acts: Readonly<Record<string, Act>> = {
  talk: (turn) => {
    turn.set(TaskState.TASK_STATE_WORKING, textPart("Let me think."));
    turn.show("answer", [textPart("Hello, ")]);
    turn.show("answer", [textPart("world.")], { append: true, lastChunk: true });
    turn.set(TaskState.TASK_STATE_COMPLETED, textPart("Hello, world."));
  },
  status: (turn) => turn.set(TaskState.TASK_STATE_COMPLETED, textPart("Only a status.")),
  message: (turn) => turn.reply("No task."),
  files: (turn) => {
    const png: Part = { ...unnamed, content: { $case: "raw", value: Buffer.from("png") }, mediaType: "image/png" };
    const link: Part = { ...unnamed, content: { $case: "url", value: "https://agents.example/a" }, filename: "a.txt" };
    turn.show("files", [png, link]);
    turn.show("data", [{ ...unnamed, content: { $case: "data", value: { found: 3 } } }]);
    turn.set(TaskState.TASK_STATE_COMPLETED);
  },
  revise: (turn) => {
    turn.show("draft", [textPart("A draft")]);
    turn.show("draft", [textPart("The end")]);
    turn.set(TaskState.TASK_STATE_COMPLETED);
  },
  ask: (turn) => turn.set(TaskState.TASK_STATE_INPUT_REQUIRED, textPart("Which one?")),
  blue: (turn) => turn.set(TaskState.TASK_STATE_COMPLETED, textPart("Blue it is.")),
  permit: async (turn, { wait }) => {
    turn.set(TaskState.TASK_STATE_AUTH_REQUIRED, textPart("Log in at https://agents.example."));
    await wait();
    turn.set(TaskState.TASK_STATE_COMPLETED, textPart("Thank you."));
  },
  fail: (turn) => turn.set(TaskState.TASK_STATE_FAILED, textPart("no luck with key-4711-of-the-agent")),
  decline: (turn) => turn.set(TaskState.TASK_STATE_REJECTED, textPart("not my work")),
  long: (turn) => {
    for (const append of [false, true, true]) {
      turn.show("answer", [textPart("x".repeat(600_000))], { append });
    }
    turn.set(TaskState.TASK_STATE_COMPLETED);
  },
  slow: async (turn, { wait }) => {
    turn.show("answer", [textPart("One, ")]);
    await wait();
    turn.show("answer", [textPart("two.")], { append: true });
    turn.set(TaskState.TASK_STATE_COMPLETED);
  },
  remember: (turn, { all }) => turn.set(TaskState.TASK_STATE_COMPLETED, textPart(JSON.stringify(all))),
};

/** Starts the agent. `card` changes its card. An old one speaks 0.3 alone. */
export async function startA2aAgent(card: Partial<AgentCard> = {}, { isOld = false } = {}): Promise<A2aServer> {
  const begun: string[] = [];
  const states: TaskState[] = [];
  const headers = new Map<string, IncomingHttpHeaders>();
  const told = new Map<string, string[]>();
  const turns = new Map<string, Turn>();
  let waits: (() => void)[] = [];
  const executor = {
    execute: async (context: RequestContext, bus: ExecutionEventBus) => {
      const texts = context.userMessage.parts.map(({ content }) => (content?.$case === "text" ? content.value : ""));
      const all = told.get(context.contextId) ?? [];
      told.set(context.contextId, all);
      all.push(...texts);
      const text = texts.at(-1) ?? "";
      begun.push(text);
      const turn = new Turn(context, bus, (state) => states.push(state));
      turns.set(context.taskId, turn);
      if (text !== "message") {
        turn.begin();
      }
      const wait = () => new Promise<void>((resolve) => waits.push(resolve));
      await acts[text.split(" ")[0] ?? ""]?.(turn, { wait, all });
    },
    cancelTask: async (taskId: string) => turns.get(taskId)?.set(TaskState.TASK_STATE_CANCELED),
  };
  const server = createServer(async (request, response) => {
    if (request.url === "/.well-known/agent-card.json") {
      headers.set("card", request.headers);
      response.setHeader("content-type", "application/json").end(JSON.stringify(isOld ? oldCardOf() : cardOf()));
      return;
    }
    const body: { method: string } = JSON.parse(await readText(request));
    headers.set(body.method, request.headers);
    const context = new ServerCallContext({ requestedVersion: String(request.headers["a2a-version"]) });
    const answer = await rpc.handle(body, context);
    if (!(Symbol.asyncIterator in answer)) {
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
      return;
    }
    response.writeHead(200, SSE_HEADERS);
    try {
      for await (const event of answer) {
        response.write(formatSSEEvent(event));
      }
    } catch (error) {
      response.write(
        formatSSEEvent({ jsonrpc: "2.0", id: 1, error: JsonRpcTransportHandler.mapToJSONRPCError(error) }),
      );
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cardOf = (): AgentCard => ({
    ...{ name: "Fake", description: "Does what it is told.", version: "1", provider: undefined, signatures: [] },
    supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    ...{ securitySchemes: {}, securityRequirements: [], defaultInputModes: [], defaultOutputModes: [], skills: [] },
    ...card,
  });
  const oldCardOf = () => {
    const { name, description, version, capabilities } = cardOf();
    const said = {
      name,
      description,
      version,
      capabilities,
      skills: [],
      defaultInputModes: [],
      defaultOutputModes: [],
    };
    return { ...said, protocolVersion: "0.3.0", url: `${origin}/rpc`, preferredTransport: "JSONRPC" };
  };
  const handler = new DefaultRequestHandler(cardOf(), new InMemoryTaskStore(), executor);
  const rpc = isOld ? new LegacyJsonRpcTransportHandler(handler) : new JsonRpcTransportHandler(handler);
  return {
    ...{ origin, begun, states, headers },
    release: () => {
      const released = waits;
      waits = [];
      for (const each of released) {
        each();
      }
    },
    cut: () => server.closeAllConnections(),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
