// Sends each request that the service has signed during the long tests back to a service, as another client of the same secret. No
// route accepts one.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { type Route, routes } from "../../harness/routes.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { signedFile } from "../signed-file.ts";

interface Signed {
  readonly client: string;
  readonly body: string;
  readonly headers: Readonly<Record<"x-signature" | "x-timestamp" | "x-nonce", string>>;
}

const requests = readFileSync(signedFile, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line): Signed => JSON.parse(line));

test("the long tests have made the service sign requests of every kind", () => {
  expect(requests.length).toBeGreaterThan(100);
  expect(requests.some(({ body }) => body.includes('"tool_name"'))).toBe(true);
  expect(requests.some(({ body }) => body.includes('"status"'))).toBe(true);
});

/** All requests are tried at the routes of sessions, and each so many at every route. */
const everyRouteEach = 100;

test("no service accepts one of them", async () => {
  let nowMs = Date.now();
  const clock = { ...systemClock, nowMs: () => nowMs };
  // Whose secret it is does not matter: the nonce must be refused before the signature is checked.
  const service = await startService({ authHmacSecret: "a secret", authAdminToken: "an admin token" }, { clock });
  const accepted: string[] = [];
  for (const [at, request] of requests.entries()) {
    // The service's time is that of the signature, so that nothing but its nonce can refuse it.
    nowMs = Number(request.headers["x-timestamp"]) * 1_000;
    const tried = at % everyRouteEach === 0 ? routes : routes.filter(({ path }) => path === "/v1/sessions");
    for (const route of tried.filter(({ isPublic }) => !isPublic)) {
      const answer = await send(service, route, request);
      if (!answer.includes("invalid nonce")) {
        accepted.push(`${route.httpMethod} ${route.path}: ${answer}`);
      }
    }
  }
  expect(accepted).toEqual([]);
});

async function send({ url }: TestService, { httpMethod, path, contentType }: Route, signed: Signed): Promise<string> {
  const hasBody = httpMethod !== "GET" && httpMethod !== "HEAD";
  const response = await fetch(url + path, {
    method: httpMethod,
    headers: { ...signed.headers, "content-type": contentType, "x-client-id": "carol" },
    ...(hasBody && { body: signed.body }),
  });
  return await response.text();
}
