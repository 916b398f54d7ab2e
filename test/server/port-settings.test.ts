// How many connections and streams there may be is for whoever runs the service to say.

import { once } from "node:events";
import http2 from "node:http2";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../harness/service.ts";

test("a connection is told the streams of the settings", async () => {
  const { url } = await startService({ serverStreamsPerConnectionMax: 250 });
  const session = http2.connect(url);
  onTestFinished(() => session.destroy());
  await once(session, "remoteSettings");
  expect(session.remoteSettings.maxConcurrentStreams).toBe(250);
});

test.each([
  ["all together", { serverConnectionsMax: 2 }],
  ["one address", { serverConnectionsPerAddressMax: 2 }],
])("%s has the connections of the settings, and one more is closed at once", async (_, flags) => {
  const { url } = await startService(flags);
  const { hostname, port } = new URL(url);
  const open = async () => {
    const socket = connect(Number(port), hostname).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const kept = [await open(), await open()];
  const tooMany = await open();
  await once(tooMany, "close");
  expect(kept.map(({ closed }) => closed)).toEqual([false, false]);
});
