// A Slack bot: a thread is a session, a mention starts a run, and the status callback of the run posts its answer into the thread. The
// bot keeps nothing: Slack repeats an event, and Runnel a callback, until the bot has done its part.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { connect, RunnelError, verifyCallback } from "@runnel/client";

const { PORT = "8091", PUBLIC_URL = `http://127.0.0.1:${PORT}` } = process.env;
const { RUNNEL_URL = "http://127.0.0.1:8090", RUNNEL_API_KEY } = process.env;
const { SLACK_API_URL = "https://slack.com/api", SLACK_BOT_TOKEN = "", SLACK_SIGNING_SECRET = "" } = process.env;
if (SLACK_BOT_TOKEN === "" || SLACK_SIGNING_SECRET === "") {
  throw new Error("set SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET: api.slack.com/apps shows both");
}
const runnel = connect(RUNNEL_URL, { apiKey: RUNNEL_API_KEY });
const agent = { name: "slack-bot", systemPrompt: "You answer in a Slack thread. Be brief." };

interface SlackEvent {
  readonly type: string;
  readonly channel: string;
  readonly text: string;
  readonly ts: string;
  readonly thread_ts?: string;
}

createServer(async (request, response) => {
  try {
    const body = (await request.setEncoding("utf8").toArray()).join("");
    const [status, answer] = request.url?.startsWith("/slack/")
      ? await receiveEvent(request, body)
      : await receiveCallback(request, body);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
}).listen(Number(PORT), () => console.log(`listening on ${PORT}`));

async function receiveEvent({ headers }: IncomingMessage, body: string): Promise<[number, object]> {
  if (!isFromSlack(headers, body)) {
    return [401, { error: "invalid signature" }];
  }
  const { type, challenge, event_id: eventId, event } = JSON.parse(body);
  if (type === "url_verification") {
    return [200, { challenge }];
  }
  if (event?.type === "app_mention") {
    await startRun(eventId, event);
  }
  return [200, {}];
}

/** Slack signs the time and the body: https://docs.slack.dev/authentication/verifying-requests-from-slack */
function isFromSlack(headers: IncomingMessage["headers"], body: string): boolean {
  const timestamp = String(headers["x-slack-request-timestamp"]);
  const mac = createHmac("sha256", SLACK_SIGNING_SECRET).update(`v0:${timestamp}:${body}`).digest("hex");
  const [given, expected] = [Buffer.from(String(headers["x-slack-signature"])), Buffer.from(`v0=${mac}`)];
  const isRecent = Math.abs(Date.now() / 1_000 - Number(timestamp)) < 300;
  return isRecent && given.length === expected.length && timingSafeEqual(given, expected);
}

/** Slack repeats an event that was not answered within three seconds: with its id as request id, it starts one run. */
async function startRun(eventId: string, { channel, text, ts, thread_ts = ts }: SlackEvent): Promise<void> {
  const sessionId = `slack-${channel}-${thread_ts.replace(".", "-")}`;
  const session = { sessionId, agent, callback: { baseUrl: `${PUBLIC_URL}/runnel` } };
  await runnel.sessions.createSession(session).catch((error: unknown) => {
    if (!(error instanceof RunnelError && error.reason === "SESSION_EXISTS")) {
      throw error;
    }
  });
  const message = text.replace(/^<@\w+>\s*/, "");
  await runnel.send(sessionId, message, { requestId: eventId, queueIfBusy: true });
}

async function receiveCallback({ headers }: IncomingMessage, body: string): Promise<[number, object]> {
  // Without credentials, as in `runnel dev`, the service signs nothing.
  const callback =
    RUNNEL_API_KEY === undefined ? JSON.parse(body) : await verifyCallback({ secret: RUNNEL_API_KEY, headers, body });
  const { session_id: sessionId, status, output, error } = callback;
  const [, channel = "", seconds, fraction] = /^slack-(\w+)-(\d+)-(\d+)$/.exec(sessionId) ?? [];
  if (status === "completed" || status === "failed") {
    const text = status === "completed" ? output : `That did not work: ${error}`;
    await callSlack("chat.postMessage", { channel, thread_ts: `${seconds}.${fraction}`, text });
  }
  return [200, {}];
}

async function callSlack(method: string, body: object): Promise<void> {
  const response = await fetch(`${SLACK_API_URL}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", authorization: `Bearer ${SLACK_BOT_TOKEN}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(8_000),
  });
  const failed = { ok: false, error: `status ${response.status}` };
  const answer = response.ok ? ((await response.json()) as typeof failed) : failed;
  if (!answer.ok) {
    throw new Error(`Slack refused ${method}: ${answer.error}`);
  }
}
