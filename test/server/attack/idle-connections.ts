// A program: opens thousands of connections from several addresses of this machine. Each begins correctly, with the preface of
// HTTP/2, and then sends no request. The program reports the number of open connections on standard output, one JSON object a
// line, and then holds them until it is killed.
//
// Arguments: host, port, and the number of connections.

import { connect } from "node:net";
import { hello } from "../h2-frames.ts";

/** Below the maximum for one address. */
const perAddressMax = 2_000;
/** More connects at the same time overflow the queue of connections that wait to be accepted. */
const opensAtOnce = 100;

async function main(host: string, port: number, count: number): Promise<void> {
  let open = 0;
  const openOne = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const localAddress = `127.0.0.${10 + Math.floor(index / perAddressMax)}`;
      const socket = connect({ host, port, localAddress });
      // The SETTINGS of the service: only now it has accepted the connection.
      socket.once("data", () => {
        open += 1;
        socket.once("close", () => {
          open -= 1;
        });
      });
      socket.on("data", () => resolve());
      socket.on("error", () => {});
      socket.once("close", () => resolve());
      socket.write(hello);
    });
  for (let index = 0; index < count; index += opensAtOnce) {
    await Promise.all(Array.from({ length: opensAtOnce }, (_, place) => openOne(index + place)));
  }
  process.stdout.write(`${JSON.stringify({ open })}\n`);
}

const [host = "", port, count] = process.argv.slice(2);
await main(host, Number(port), Number(count));
