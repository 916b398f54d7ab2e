// The program that the official suite tests: it serves ConformanceService on a port as requested on stdin, and writes the
// address to stdout. It runs until it is killed and has nothing to close. With --custom-stream, ServerStream is a feed.

import { createContextValues } from "@connectrpc/connect";
import { listenOnePort, type OnePortHandler, type OnePortTls } from "../../src/surfaces/http/one-port.ts";
import { answerRpc, createRpcTable } from "../../src/surfaces/http/rpc.ts";
import type { ServerCompatRequest } from "./gen/connectrpc/conformance/v1/server_compat_pb.js";
import { createHandlers } from "./handlers.ts";
import { readRequest, writeResponse } from "./order.ts";

const order = await readRequest(process.stdin);
const tls = readTls(order);
const { address } = await listenOnePort({
  host: "127.0.0.1",
  port: 0,
  handler: createListener(order),
  ...(tls && { tls }),
});
writeResponse(process.stdout, {
  ...address,
  ...(tls && { pemCert: Buffer.from(tls.cert) }),
});

function readTls({ useTls, serverCreds, clientTlsCert }: ServerCompatRequest): OnePortTls | undefined {
  if (!useTls) {
    return undefined;
  }
  if (serverCreds === undefined) {
    throw new Error("TLS was asked for, but no certificate was given");
  }
  return {
    cert: Buffer.from(serverCreds.cert).toString(),
    key: Buffer.from(serverCreds.key).toString(),
    ...(clientTlsCert.byteLength > 0 && { clientCa: Buffer.from(clientTlsCert).toString() }),
  };
}

function createListener({ messageReceiveLimit }: ServerCompatRequest): OnePortHandler {
  const isCustomStream = process.argv.includes("--custom-stream");
  const rpcs = createRpcTable(createHandlers({ readMaxBytes: messageReceiveLimit, isCustomStream }));
  return (request, response) => {
    const handler = rpcs.get(request.url?.split("?", 1)[0] ?? "");
    if (handler === undefined) {
      response.statusCode = 404;
      response.end();
      return;
    }
    answerRpc(handler, request, response, { contextValues: createContextValues() }).catch((error: unknown) => {
      // Clients of the suite leave in the middle of answers on purpose. Only with HTTP/1.1 the response itself shows it.
      const { destroyed: isGone } = "stream" in response ? response.stream : response;
      if (!isGone) {
        process.stderr.write(`${request.url}: ${String(error)}\n`);
        response.destroy();
      }
    });
  };
}
