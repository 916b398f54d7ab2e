// A port with several listening sockets: it accepts a crowd sooner, and all else is as with one. O4 is in
// src/surfaces/http/one-port.ts.

import { connect, Server } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { listenOnePort } from "../../src/surfaces/http/one-port.ts";
import { closeAllAfterEach, destroyAfterTest, get, holdResponses, openPort, type TestPort } from "./port-stage.ts";

const listeners = 8;
const crowd = 64;
/** Longer than a test may take: what ends sooner did not wait for it. */
const endlessMs = 3_600_000;

closeAllAfterEach();

/** Opens connections in one turn of the event loop, so that the system has all of them before the port looks. */
function connectCrowd({ address }: TestPort): void {
  for (let count = 0; count < crowd; count++) {
    const socket = connect(address.port, address.host);
    destroyAfterTest(socket);
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
  }
}

/** Returns the number of turns in which the crowd got its answers. */
async function countTurns(options: { listeners: number }): Promise<number> {
  let turn = 0;
  const servedIn: number[] = [];
  const port = await openPort({
    transport: "cleartext",
    handler: (_request, response) => {
      servedIn.push(turn);
      response.end();
    },
    ...options,
  });
  connectCrowd(port);
  while (servedIn.length < crowd) {
    await nextTurn();
    turn++;
  }
  return Math.max(...servedIn) - Math.min(...servedIn);
}

test.runIf(process.platform === "linux")("a port with several listeners takes a crowd in fewer turns", async () => {
  expect(await countTurns({ listeners: 1 })).toBeGreaterThanOrEqual(crowd - 1);
  expect(await countTurns({ listeners })).toBeLessThan(crowd / 2);
});

test("O4: a shutdown waits for the connections of every listener", async () => {
  const held = holdResponses();
  const port = await openPort({ transport: "cleartext", handler: held.handler, listeners });
  connectCrowd(port);
  const first = await held.next();
  const others = await Promise.all(Array.from({ length: crowd - 1 }, () => held.next()));
  let isOver = false;
  const done = port.shutdown(endlessMs).then(() => {
    isOver = true;
  });
  for (const response of others) {
    response.end();
  }
  await nextTurn();
  expect(isOver).toBe(false);
  first.end();
  await done;
  await expect(get(port)).rejects.toThrow("ECONNREFUSED");
});

test("a port that another program has is refused", async () => {
  const { address } = await openPort({ transport: "cleartext", listeners });
  const handler = (): void => {};
  await expect(listenOnePort({ ...address, handler, listeners })).rejects.toThrow("already in use");
  await expect(listenOnePort({ ...address, handler })).rejects.toThrow("already in use");
});

// A port that is found, closed and opened again may have got another program in between, which then answers its callers.
test.runIf(process.platform === "linux")(
  "a port that the system chooses is never closed before it serves",
  async () => {
    const listen = vi.spyOn(Server.prototype, "listen");
    onTestFinished(() => listen.mockRestore());
    const { address } = await openPort({ transport: "cleartext", listeners });
    const asked = listen.mock.calls.map(([place]) => place as unknown);
    const ports = [0, ...Array.from({ length: listeners - 1 }, () => address.port)];
    expect(asked).toMatchObject(ports.map((port) => ({ host: address.host, port, reusePort: true })));
  },
);
