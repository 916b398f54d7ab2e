// A client that waits long for an answer gets white space each 3 s, then the answer whole.

import { expect, test } from "vitest";
import { modelFlags } from "../conformance/stage.ts";
import { openProvider } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { createHeldClock } from "../harness/held-clock.ts";
import { startService } from "../harness/service.ts";

const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] };

test.each([
  ["/a2a", { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }, "result"],
  ["/a2a/message:send", { message }, "task"],
])("%s", async (path, body, member) => {
  const { clock, pass } = createHeldClock(3_000);
  const held = Promise.withResolvers<void>();
  const provider = await openProvider(async (wire) => {
    await held.promise;
    wire.text("late");
    wire.done("stop");
  });
  const service = await startService(modelFlags(provider), { clock, own: true });
  const headers = { ...credentialsOf(), "content-type": "application/json", "a2a-version": "1.0" };
  const beats = setInterval(pass, 50);
  const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (/^ {3}/.test(text)) {
      held.resolve();
    }
  }
  clearInterval(beats);
  expect(text).toMatch(/^ {3}/);
  expect(JSON.parse(text)).toHaveProperty(member);
  expect(text).toContain('"late"');
});
