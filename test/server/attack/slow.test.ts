// Slow peers: they send nothing, or a little now and then, and never enough.

import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { credentialsOf } from "../../harness/credentials.ts";
import { until } from "../../harness/wait.ts";
import { beginningOfHead, hello } from "../h2-frames.ts";
import { openAttackedService } from "./attacked-service.ts";
import { connectPeers, type RawPeers, statusesOf } from "./raw-peers.ts";

const peers = 200;
const slowTimeoutMs = 120_000;
/** The timeouts of a preface and of a request, both set to the same 10 s; then a check, and a busy machine. */
const closedMaxMs = 25_000;
const quickRead = { RUNNEL_SERVER_READ_TIMEOUT_SEC: "10" };
const trickleMs = 500;

test("silent and slow peers lose their connections, and other clients are not disturbed", {
  timeout: slowTimeoutMs,
}, async () => {
  const attacked = await openAttackedService(quickRead);
  const { authorization } = credentialsOf();
  const all = {
    silent: connectPeers(attacked, peers),
    halfAPreface: connectPeers(attacked, peers, "PRI * HT"),
    headTrickle: connectPeers(attacked, peers, "GET /v1/sessions HTTP/1.1\r\nHost: a\r\n"),
    bodyOfNobody: connectPeers(attacked, peers, bodyStops("")),
    bodyOfClient: connectPeers(attacked, peers, bodyStops(`Authorization: ${authorization}\r\n`)),
  };
  // These peers miss a PING only after 28 s (port-limits.test.ts), and cost no more than other idle peers.
  const h2Head = connectPeers(attacked, peers, Buffer.concat([hello, beginningOfHead(1)]));

  await until("every one of them to be closed", () => trickle(all), closedMaxMs);
  // Peers that had begun a request get the reason.
  expect(statusesOf(all.headTrickle)).toEqual(["408"]);
  expect(statusesOf(all.bodyOfNobody)).toEqual(["401"]);
  expect(statusesOf(all.bodyOfClient)).toEqual(["408"]);
  for (const socket of h2Head.sockets) {
    socket.destroy();
  }
  await attacked.expectUnharmed();
});

function bodyStops(authorization: string): string {
  const head = `Host: a\r\n${authorization}Content-Length: 1000\r\nContent-Type: application/json\r\n`;
  return `POST /v1/sessions HTTP/1.1\r\n${head}\r\n{`;
}

/** Returns true when all are closed; until then a line of a head is sent now and then. */
async function trickle(all: Readonly<Record<string, RawPeers>>): Promise<boolean> {
  all.headTrickle?.write(() => "X-More: 1\r\n");
  await delay(trickleMs);
  return Object.values(all).every((each) => each.countOpen() === 0);
}
