// A chat in a browser. The server has the key: it sends the messages of a visitor, and gives the page a ticket for the stream of one run.
// The page reads that stream from Runnel itself, by Connect.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import { connect } from "@runnel/client";
import { rolldown } from "rolldown";

const { PORT = "8095", RUNNEL_URL = "http://127.0.0.1:8090", RUNNEL_API_KEY } = process.env;
const runnel = connect(RUNNEL_URL, { apiKey: RUNNEL_API_KEY });

await using bundle = await rolldown({ input: fileURLToPath(new URL("page.js", import.meta.url)), platform: "browser" });
const { output } = await bundle.generate({ format: "esm" });
const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
  "/": ["text/html", await readFile(new URL("page.html", import.meta.url), "utf8")],
  "/page.js": ["text/javascript", output[0].code],
};

createServer(async (request, response) => {
  try {
    const [type, body] = files[request.url ?? ""] ?? ["application/json", JSON.stringify(await answer(request))];
    response.writeHead(200, { "content-type": type }).end(body);
  } catch (error) {
    console.error(error);
    response.writeHead(400).end();
  }
}).listen(Number(PORT), () => console.log(`http://127.0.0.1:${PORT}`));

/** Sessions of visitors. In your program, the user who is logged in has one. */
const sessions = new Map<string, { lastRunId: string }>();

async function answer(request: IncomingMessage): Promise<object> {
  const { sessionId, message, runId } = JSON.parse((await request.setEncoding("utf8").toArray()).join(""));
  if (request.url === "/sessions") {
    const created = await runnel.sessions.createSession({ requestId: randomUUID(), agent: { name: "chat" } });
    sessions.set(created.sessionId, { lastRunId: "" });
    return { sessionId: created.sessionId };
  }
  const session = sessions.get(sessionId);
  if (session === undefined) {
    throw new Error("unknown session: reload the page");
  }
  if (request.url === "/messages") {
    session.lastRunId = (await runnel.send(sessionId, message, { queueIfBusy: true })).runId;
  } else if (request.url !== "/tickets" || runId !== session.lastRunId) {
    throw new Error("the page may ask for a ticket of its last run");
  }
  const target = { case: "runId", value: session.lastRunId } as const;
  const { ticket } = await runnel.auth.createStreamTicket({ target: { target } });
  return { runId: session.lastRunId, ticket, url: RUNNEL_URL };
}
