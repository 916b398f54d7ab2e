// Cases of status callbacks: a receiver accepts what the service has signed, and nothing else. The service's own code signs.

import { createSignRequest } from "../../../src/platform/auth/sign-request.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import type { Case, Trial } from "../case.ts";

interface Received {
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly nowMs: number;
}

const secret = "a secret of thirty-two characters";
const body = JSON.stringify({
  session_id: "abc123",
  client_id: "my-app",
  status: "completed",
  output: "Grüße, \\u003c世界\\u003e",
  run_id: "0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d",
  sequence: 57,
  callback_id: "8c78a9f0-0000-4000-8000-000000000001",
});

function receive(): Received {
  const sign = createSignRequest({ keyRing: { findCallbackSecret: () => secret }, clock: systemClock });
  const headers = { "content-type": "application/json", "x-session-id": "abc123", ...sign("my-app", body) };
  return { secret, headers, body, nowMs: systemClock.nowMs() };
}

function callback(name: string, says: string, isValid: boolean, change: (received: Received) => Received): Case {
  const prepare = (): Trial => {
    const { secret: key, headers, body: text, nowMs } = change(receive());
    const bytes = Buffer.from(text).toString("base64");
    return {
      request: { credentials: {}, call: "callback", secret: key, headers, body: bytes, now_ms: nowMs },
      check: ({ lines }, findings) => {
        const [line] = lines;
        findings.equal("valid", line?.valid, isValid ? true : undefined);
        findings.equal("the code of the error", line?.error?.code, isValid ? undefined : "INVALID_ARGUMENT");
        findings.that(isValid || Boolean(line?.error?.reason), "the error has no reason");
      },
    };
  };
  return { group: "callback", name, says, prepare };
}

function without({ headers, ...rest }: Received, name: string): Received {
  return { ...rest, headers: Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name)) };
}

function withHeader({ headers, ...rest }: Received, name: string, value: string): Received {
  return { ...rest, headers: { ...headers, [name]: value } };
}

export const callbackCases: readonly Case[] = [
  callback("valid", "a callback as the service sends it is accepted", true, (received) => received),
  callback("header-case", "names of headers have no case", true, ({ headers, ...rest }) => ({
    ...rest,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.replace(/(^|-)./g, (letter) => letter.toUpperCase()),
        value,
      ]),
    ),
  })),
  callback("late", "a callback is accepted 110 seconds after it was signed", true, (received) => ({
    ...received,
    nowMs: received.nowMs + 110_000,
  })),
  callback("changed-body", "a body that was changed is refused", false, (received) => ({
    ...received,
    body: body.replace("completed", "failed"),
  })),
  callback("other-secret", "a callback that another secret has signed is refused", false, (received) => ({
    ...received,
    secret: "another secret of the same length",
  })),
  callback("old-timestamp", "a timestamp of more than two minutes ago is refused", false, (received) => ({
    ...received,
    nowMs: received.nowMs + 125_000,
  })),
  callback("early-timestamp", "a timestamp of more than two minutes ahead is refused", false, (received) => ({
    ...received,
    nowMs: received.nowMs - 125_000,
  })),
  callback("changed-timestamp", "a timestamp that was not signed is refused", false, (received) =>
    withHeader(received, "x-timestamp", String(Number(received.headers["x-timestamp"]) + 1)),
  ),
  callback("changed-nonce", "a nonce that was not signed is refused", false, (received) =>
    withHeader(received, "x-nonce", "another_nonce_of_the_sender"),
  ),
  callback("malformed-signature", "a signature that is not hexadecimal is refused", false, (received) =>
    withHeader(received, "x-signature", "sha256=none"),
  ),
  ...["x-signature", "x-timestamp", "x-nonce"].map((name) =>
    callback(`without-${name.slice(2)}`, `a callback without ${name} is refused`, false, (received) =>
      without(received, name),
    ),
  ),
];
