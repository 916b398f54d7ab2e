// Peers that take their time: they say nothing, or a little now and then, and never enough.

import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { until } from "../../harness/wait.ts";
import { frameTypes, hello } from "../h2-frames.ts";
import { connectPeers, type RawPeers } from "./raw-peers.ts";
import { openSiege } from "./siege.ts";

const peers = 200;
const slowTimeoutMs = 120_000;
/** The longest limit is that of a peer that answers no PING, 28 s; then a check, and a busy machine. */
const closedMaxMs = 45_000;
const trickleMs = 500;

test("peers that say nothing or too little lose their connections, and nobody else notices", {
  timeout: slowTimeoutMs,
}, async () => {
  const siege = await openSiege();
  const silent = connectPeers(siege, peers);
  const halfAPreface = connectPeers(siege, peers, "PRI * HT");
  const headTrickle = connectPeers(siege, peers, "GET /v1/sessions HTTP/1.1\r\nHost: a\r\n");
  const bodyStops = connectPeers(
    siege,
    peers,
    "POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\nContent-Type: application/json\r\n\r\n{",
  );
  const h2Head = connectPeers(siege, peers, Buffer.concat([hello, unendingHead()]));
  const all = { silent, halfAPreface, headTrickle, bodyStops, h2Head };

  await until("every one of them to be closed", () => trickle(all), closedMaxMs);
  // Those who had begun a request are told why.
  expect(headTrickle.texts().filter((text) => !text.startsWith("HTTP/1.1 408 "))).toEqual([]);
  await siege.expectUnharmed();
});

/** True when all are closed; until then a line of a head comes now and then. */
async function trickle(all: Readonly<Record<string, RawPeers>>): Promise<boolean> {
  all.headTrickle?.write(() => "X-More: 1\r\n");
  await delay(trickleMs);
  return Object.values(all).every((each) => each.countOpen() === 0);
}

/** HEADERS of stream 1 that says: more will follow. */
function unendingHead(): Buffer {
  const payload = Buffer.from([0x82, 0x86, 0x84]);
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(frameTypes.headers, 3);
  head.writeUInt32BE(1, 5);
  return Buffer.concat([head, payload]);
}
