// The site of a chat. It has the key: it starts the runs of a visitor and makes tickets for them. The widget on its page reads the
// answers from Runnel itself. The server keeps nothing: a cookie names the visitor, and the visitor's session has the same name.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { connect, RunnelError } from "@runnel/client";

const { PORT = "8095", RUNNEL_URL = "http://127.0.0.1:8090", RUNNEL_API_KEY } = process.env;
const runnel = connect(RUNNEL_URL, { apiKey: RUNNEL_API_KEY });

const page = await readFile(new URL("page.html", import.meta.url), "utf8");
const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
  "/": ["text/html", page.replace("%ENDPOINT%", RUNNEL_URL)],
  "/runnel-chat.js": ["text/javascript", await readFile(new URL(import.meta.resolve("@runnel/chat")), "utf8")],
};

createServer(async (request, response) => {
  try {
    const visitor = readVisitor(request) ?? randomUUID();
    // In your program, the user who is logged in takes the place of this cookie. `Strict` keeps other sites from sending messages.
    response.setHeader("set-cookie", `visitor=${visitor}; HttpOnly; SameSite=Strict; Path=/`);
    const [type, body] = files[request.url ?? ""] ?? [
      "application/json",
      JSON.stringify(await answer(request, visitor)),
    ];
    response.writeHead(200, { "content-type": type }).end(body);
  } catch (error) {
    console.error(error);
    // The widget calls again after a 500, and shows the text of a 400 to the visitor.
    const isRefused = error instanceof Refused;
    response.writeHead(isRefused ? 400 : 500).end(JSON.stringify(isRefused ? { error: error.message } : {}));
  }
}).listen(Number(PORT), () => console.log(`http://127.0.0.1:${PORT}`));

class Refused extends Error {}

async function answer(request: IncomingMessage, visitor: string): Promise<object> {
  if (request.method !== "POST" || request.url !== "/chat") {
    throw new Refused("This page does not exist.");
  }
  const asked = JSON.parse((await request.setEncoding("utf8").toArray()).join(""));
  const sessionId = `chat-${visitor}`;
  if (asked.type === "message") {
    await openSession(sessionId);
    const options = { requestId: asked.request_id, queueIfBusy: true };
    const { runId } = await runnel.send(sessionId, asked.message, options);
    return { run_id: runId, ticket: await makeTicket(runId) };
  }
  const runId = await checkOwner(asked.run_id, sessionId);
  if (asked.type === "cancel") {
    await runnel.runs.cancelRun({ runId });
    return {};
  }
  return { ticket: await makeTicket(runId) };
}

/** The first message of a visitor opens the session. */
async function openSession(sessionId: string): Promise<void> {
  try {
    await runnel.sessions.createSession({ sessionId, agent: { name: "chat" } });
  } catch (error) {
    if (!(error instanceof RunnelError && error.code === "ALREADY_EXISTS")) {
      throw error;
    }
  }
}

/** A visitor may read and stop the visitor's own runs. */
async function checkOwner(runId: string, sessionId: string): Promise<string> {
  const { run } = await runnel.runs.getRun({ runId });
  if (run?.sessionId !== sessionId) {
    throw new Refused("This answer is of another visitor.");
  }
  return runId;
}

async function makeTicket(runId: string): Promise<string> {
  const target = { case: "runId", value: runId } as const;
  return (await runnel.auth.createStreamTicket({ target: { target } })).ticket;
}

function readVisitor({ headers }: IncomingMessage): string | undefined {
  return /(?:^|; )visitor=([0-9a-f-]{36})(?:;|$)/.exec(headers.cookie ?? "")?.[1];
}
