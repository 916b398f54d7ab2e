// `@runnel/client` in Chromium, on a page of another origin: it follows a run with a ticket while the service is killed with -9.

import { expect, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { startRun } from "../../fault/cluster.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { openPage } from "../browser.ts";
import { startPageServer } from "../page-server.ts";
import { startMortalService, wholeText } from "./killed-service.ts";

test("a page gets the whole text once, although the service is killed", async () => {
  const origin = await startPageServer();
  const service = await startMortalService({ RUNNEL_SERVER_CORS_ORIGINS: origin });
  const client = new GrpcClient(new URL(service.url).host);
  const { runId } = await startRun(client, "go");
  const target = { target: { case: "runId", value: runId } } as const;
  const { ticket } = await client.call(AuthService.method.createStreamTicket, { target });
  const page = await openPage(`${origin}/follower`, "pageFollower");
  const call = { url: service.url, ticket, runId };
  const following = page.evaluate((each) => globalThis.pageFollower.follow(each.url, each.ticket, each.runId), call);
  await service.killWhen("text on the page", async () => {
    return (await page.evaluate(() => globalThis.pageFollower.text())) !== "";
  });
  const { state, text, sequences } = await following;
  expect([state, text]).toEqual(["completed", wholeText]);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
});
