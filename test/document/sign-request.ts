// Signs as the document's JavaScript does.

import { createHmac, randomBytes } from "node:crypto";

export function signRequest(secret: string, body: string): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000).toString();
  const nonce = randomBytes(16).toString("hex");
  const digest = createHmac("sha256", secret).update(`${timestamp}.${nonce}.${body}`).digest("hex");
  return { "X-Signature": `sha256=${digest}`, "X-Timestamp": timestamp, "X-Nonce": nonce };
}
