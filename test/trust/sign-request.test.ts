// Requests of the service are signed as the Agent Runner document says, with the secret of the receiving client.

import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/app/settings.ts";
import { keyedClient, sharedClient } from "../../src/platform/auth/caller.ts";
import { KeyRing } from "../../src/platform/auth/key-ring.ts";
import { createSignRequest } from "../../src/platform/auth/sign-request.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const shared = "shared-secret-of-everybody";
const keys = [
  { client: "a", key: "first-key-of-client-a" },
  { client: "a", key: "second-key-of-client-a" },
];
const clock = createManualClock({ nowMs: 1_767_225_600_999 });

function sign(client: string, config: Parameters<typeof loadConfig>[1], body = '{"ä":1}') {
  return createSignRequest({ keyRing: new KeyRing(loadConfig({}, config)), clock })(client, body);
}

function macOf(secret: string, nonce: string | undefined): string {
  return `sha256=${createHmac("sha256", secret).update(`1767225600.${nonce}.{"ä":1}`).digest("hex")}`;
}

test.each([
  ["a client's own first key", keyedClient("a"), "first-key-of-client-a"],
  ["the shared secret for a client of the shared realm", sharedClient("b"), shared],
  ["the shared secret for an id that only looks like a client with a key", sharedClient("a"), shared],
])("a request is signed with %s", (_, client, secret) => {
  const headers = sign(client, { authHmacSecret: shared, authHmacSecretPrevious: "old-secret", authApiKeys: keys });
  expect(headers["x-timestamp"]).toBe("1767225600");
  expect(headers["x-nonce"]).toMatch(/^from-runnel-[0-9a-f]{32}$/);
  expect(headers["x-signature"]).toBe(macOf(secret, headers["x-nonce"]));
});

test("no two requests have the same nonce", () => {
  const nonces = Array.from({ length: 100 }, () => sign("shared/x", { authHmacSecret: shared })["x-nonce"]);
  expect(new Set(nonces).size).toBe(100);
});

test("a request is not signed without a secret of its client: a client whose keys are kept as hashes has none", () => {
  expect(sign(keyedClient("c"), { authHmacSecret: shared, authApiKeys: keys })).not.toHaveProperty("x-signature");
  expect(sign(sharedClient("b"), { authApiKeys: keys })).not.toHaveProperty("x-signature");
  expect(sign(sharedClient("127.0.0.1"), {})).not.toHaveProperty("x-signature");
});
