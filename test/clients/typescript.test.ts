// `@runnel/client` passes the conformance kit. The subject runs in this process; test/external runs it with the packed package.

import { createServer } from "node:net";
import { expect, test, vi } from "vitest";
import { connect } from "../../clients/typescript/src/index.ts";
import { listenLocally } from "../harness/listen.ts";
import { cases, runCases } from "./kit.ts";
import { answer } from "./subjects/answer.ts";

vi.setConfig({ testTimeout: 120_000 });

test("the TypeScript client passes all cases", async () => {
  const verdicts = await runCases(cases, (request, print, signal) => answer(request, print, signal), { atATime: 16 });
  expect(verdicts.filter(({ problems }) => problems.length > 0)).toEqual([]);
});

test("a client may be closed while a server breaks its connection: no error ends the process", async () => {
  const server = createServer((socket) => socket.once("data", () => socket.end("HTTP/1.0 400 Bad Request\r\n\r\n")));
  const client = connect(`http://127.0.0.1:${await listenLocally(server)}`);
  await expect(client.auth.createStreamTicket({}).finally(() => client.close())).rejects.toThrow("Protocol error");
});
