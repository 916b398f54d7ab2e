// Slack, as a bot sees it: it signs events, repeats those that were not answered, and takes messages over its Web API.

import { createHmac } from "node:crypto";
import { openWireServer } from "../fixtures.ts";

export interface SlackHost {
  readonly environment: Readonly<Record<string, string>>;
  /** The bodies of chat.postMessage that it has accepted. */
  readonly posted: readonly object[];
  /** Sends an event to the bot and resolves with the status of its answer. */
  sendEvent(
    url: string,
    body: object,
    options?: { readonly secret?: string; readonly ageSeconds?: number },
  ): Promise<Response>;
}

const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const token = "xoxb-test-token";

export async function openSlackHost(): Promise<SlackHost> {
  const posted: object[] = [];
  const server = await openWireServer(() => (wire, { method, path, headers, text }) => {
    const refuse = (error: string) => wire.reply(200, JSON.stringify({ ok: false, error }));
    if (method !== "POST" || path !== "/api/chat.postMessage") {
      refuse("unknown_method");
    } else if (headers.authorization !== `Bearer ${token}`) {
      refuse("invalid_auth");
    } else if (headers["content-type"] !== "application/json; charset=utf-8") {
      refuse("invalid_form_data");
    } else {
      const message = JSON.parse(text);
      posted.push(message);
      wire.reply(200, JSON.stringify({ ok: true, channel: message.channel, ts: "1700000009.000100", message }));
    }
  });
  return {
    environment: {
      SLACK_API_URL: `${server.origin}/api`,
      SLACK_BOT_TOKEN: token,
      SLACK_SIGNING_SECRET: signingSecret,
    },
    posted,
    sendEvent: async (url, event, { secret = signingSecret, ageSeconds = 0 } = {}) => {
      const body = JSON.stringify(event);
      const timestamp = `${Math.floor(Date.now() / 1_000) - ageSeconds}`;
      const mac = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
      return await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-slack-request-timestamp": timestamp,
          "x-slack-signature": `v0=${mac}`,
        },
        body,
      });
    },
  };
}
