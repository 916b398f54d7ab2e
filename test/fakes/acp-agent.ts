// A coding agent that speaks ACP by the official SDK. The words of its prompt say what it does. It keeps its sessions in its directory.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import {
  type AgentContext,
  agent,
  methods,
  ndJsonStream,
  RequestError,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";

const canLoad = process.argv.includes("load");
const canResume = process.argv.includes("resume");
const form = { type: "object", properties: { name: { type: "string" } } } as const;
/** What the client has announced. */
let announced: unknown;
const stops = new Map<string, AbortController>();

interface Turn {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly text: string;
  readonly signal: AbortSignal;
}

const fileOf = (sessionId: string): string => `.session-${sessionId}.json`;

function readHistory(sessionId: string): string[] {
  if (!existsSync(fileOf(sessionId))) {
    throw RequestError.sessionNotFound(sessionId);
  }
  return JSON.parse(readFileSync(fileOf(sessionId), "utf8"));
}

const textBlock = (text: string) => ({ type: "text", text }) as const;
const send = ({ client, sessionId }: Turn, update: SessionUpdate): Promise<void> =>
  client.notify(methods.client.session.update, { sessionId, update });
const say = (turn: Turn, text: string): Promise<void> =>
  send(turn, { sessionUpdate: "agent_message_chunk", content: textBlock(text) });
const toolCallId = "call_1";
const diff = { type: "diff", path: "a.txt", oldText: "old", newText: "new" } as const;

const edit = (turn: Turn, status: "pending" | "completed"): Promise<void> =>
  status === "pending"
    ? send(turn, {
        sessionUpdate: "tool_call",
        ...{ toolCallId, title: "Edit a.txt", kind: "edit", status, rawInput: { path: "a.txt" } },
      })
    : send(turn, {
        sessionUpdate: "tool_call_update",
        ...{ toolCallId, status, content: [diff], locations: [{ path: "a.txt", line: 1 }] },
      });

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));

const acts: Readonly<Record<string, (turn: Turn) => Promise<void>>> = {
  talk: async (turn) => {
    await send(turn, { sessionUpdate: "agent_thought_chunk", content: textBlock("Let me think.") });
    const entries = [{ content: "Read", priority: "high", status: "pending" } as const];
    await send(turn, { sessionUpdate: "plan", entries });
    await say(turn, "Hello, ");
    await say(turn, "world.");
  },
  twice: async (turn) => {
    const chunk = (messageId: string, text: string, sessionId = turn.sessionId) =>
      send({ ...turn, sessionId }, { sessionUpdate: "agent_message_chunk", messageId, content: textBlock(text) });
    await chunk("m1", "One, ");
    await chunk("m9", "of another session", "child");
    await chunk("m1", "two.");
    await chunk("m2", "Three.");
  },
  edit: async (turn) => {
    await say(turn, "I edit it.");
    await edit(turn, "pending");
    const { outcome }: RequestPermissionResponse = await turn.client.request(methods.client.session.requestPermission, {
      sessionId: turn.sessionId,
      toolCall: { toolCallId, title: "Edit a.txt", kind: "edit", content: [diff] },
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    const answer = outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
    if (answer === "yes") {
      await turn.client.request(methods.client.fs.writeTextFile, {
        sessionId: turn.sessionId,
        path: "a.txt",
        content: "new\nline",
      });
      await edit(turn, "completed");
    } else {
      await send(turn, {
        sessionUpdate: "tool_call_update",
        ...{ toolCallId, status: "failed", content: [{ type: "content", content: textBlock("refused") }] },
      });
    }
    const path = `${process.cwd()}/a.txt`;
    const { content } = await turn.client
      .request(methods.client.fs.readTextFile, { sessionId: turn.sessionId, path, line: 2, limit: 1 })
      .catch(({ code, message }) => ({ content: `${code} ${message.split(":")[0]}` }));
    await say(turn, `${answer}: ${content}`);
  },
  escape: async (turn) => {
    for (const path of ["../escape.txt", "/etc/passwd", "link/escape.txt"]) {
      const asked = { sessionId: turn.sessionId, path };
      const read = await turn.client
        .request(methods.client.fs.readTextFile, asked)
        .then(String, ({ message }) => message);
      const written = await turn.client
        .request(methods.client.fs.writeTextFile, { ...asked, content: "out" })
        .then(String, ({ message }) => message);
      await say(turn, `${read}\n${written}\n`);
    }
  },
  remember: async (turn) => say(turn, JSON.stringify(readHistory(turn.sessionId))),
  // Says what the client has announced, and what it answers to each request that it may get.
  probe: async (turn) => {
    const { sessionId } = turn;
    const path = `${process.cwd()}/probe.txt`;
    const terminal = { sessionId, terminalId: "t" };
    const requests: readonly (readonly [method: string, params: object])[] = [
      [methods.client.fs.writeTextFile, { sessionId, path, content: "written" }],
      [methods.client.fs.readTextFile, { sessionId, path }],
      [methods.client.terminal.create, { sessionId, command: "ls" }],
      [methods.client.terminal.output, terminal],
      [methods.client.terminal.waitForExit, terminal],
      [methods.client.terminal.kill, terminal],
      [methods.client.terminal.release, terminal],
      [methods.client.elicitation.create, { sessionId, mode: "form", message: "?", requestedSchema: form }],
      [
        methods.client.elicitation.create,
        { sessionId, mode: "url", message: "?", elicitationId: "e", url: "https://a" },
      ],
    ];
    const answers: unknown[] = [];
    for (const [method, params] of requests) {
      answers.push(
        await turn.client.request(method, params).then(
          (answer) => [method, answer],
          ({ code }) => [method, code],
        ),
      );
    }
    await say(turn, JSON.stringify({ announced, answers }));
  },
  spy: async (turn) => say(turn, `my key is ${process.env.AGENT_KEY}, ${process.env.DATABASE_URL}`),
  crash: async (turn) => {
    await say(turn, "about to");
    process.exit(7);
  },
  hang: async (turn) => {
    await edit(turn, "pending");
    await say(turn, "working");
    await never(turn.signal);
  },
  deaf: async (turn) => {
    await say(turn, "working");
    await new Promise(() => {});
  },
  flood: async (turn) => {
    for (let count = 0; count < 20_000; count += 1) {
      await say(turn, "x".repeat(100));
    }
  },
  garbage: async (turn) => {
    const lines = [
      "no json",
      "[]",
      "null",
      "{}",
      '{"jsonrpc":"2.0","id":99,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":7}',
    ];
    const updates = [
      7,
      null,
      [],
      {},
      { sessionUpdate: 3 },
      { sessionUpdate: "unheard" },
      { sessionUpdate: "tool_call" },
      { sessionUpdate: "plan", entries: "none" },
      { sessionUpdate: "tool_call_update", toolCallId: "ghost", content: 3, status: "completed", locations: {} },
      { sessionUpdate: "tool_call_update", toolCallId: "ghost", _meta: { late: true } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "\ud800half" } },
    ];
    for (const update of updates) {
      lines.push(
        JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: turn.sessionId, update } }),
      );
    }
    process.stdout.write(`${lines.join("\n")}\n`);
  },
  huge: async () => {
    process.stdout.write("x".repeat(9_000_000));
    await new Promise(() => {});
  },
  refuse: async () => {
    throw RequestError.authRequired({ details: `log in with ${process.env.AGENT_KEY}` });
  },
};

agent({ name: "fake" })
  .onRequest(methods.agent.initialize, ({ params }) => {
    announced = params.clientCapabilities;
    return {
      protocolVersion: process.argv.includes("old") ? 0 : 1,
      agentCapabilities: { loadSession: canLoad, ...(canResume && { sessionCapabilities: { resume: {} } }) },
    };
  })
  .onRequest(methods.agent.session.new, () => {
    const sessionId = crypto.randomUUID();
    writeFileSync(fileOf(sessionId), "[]");
    return { sessionId };
  })
  .onRequest(methods.agent.session.load, async ({ params: { sessionId }, client }) => {
    const turn = { client, sessionId, text: "", signal: new AbortController().signal };
    for (const text of readHistory(sessionId)) {
      await send(turn, { sessionUpdate: "user_message_chunk", content: textBlock(text) });
    }
    return {};
  })
  .onRequest(methods.agent.session.resume, ({ params: { sessionId } }) => {
    readHistory(sessionId);
    return {};
  })
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const text = prompt.map((block) => (block.type === "text" ? block.text : block.type)).join("|");
    writeFileSync(fileOf(sessionId), JSON.stringify([...readHistory(sessionId), text]));
    const stop = new AbortController();
    stops.set(sessionId, stop);
    const turn = { client, sessionId, text, signal: stop.signal };
    const [word = "remember"] = text.startsWith("The process") ? [] : (text.match(/\w+$/) ?? []);
    try {
      await (acts[word] ?? acts.remember)?.(turn);
      return {
        stopReason: word === "long" ? "max_tokens" : "end_turn",
        usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 },
      };
    } catch (error) {
      if (stop.signal.aborted) {
        return { stopReason: "cancelled" };
      }
      throw error;
    }
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => stops.get(params.sessionId)?.abort())
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
