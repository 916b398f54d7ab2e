// A program: thousands of connections from several addresses of this machine that begin well, with the preface of HTTP/2, and
// then ask for nothing. It says on standard output, one JSON object a line, how many are open; then it holds them until it
// is killed.
//
// Arguments: host, port, and how many connections.

import { connect } from "node:net";
import { hello } from "../h2-frames.ts";

/** Below what one address may have. */
const perAddressMax = 2_000;
/** Connecting more at once overflows the queue of those that wait to be accepted. */
const opensAtOnce = 100;

async function main(host: string, port: number, count: number): Promise<void> {
  let open = 0;
  const openOne = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const localAddress = `127.0.0.${10 + Math.floor(index / perAddressMax)}`;
      const socket = connect({ host, port, localAddress });
      // SETTINGS of the service: only then it has taken the connection.
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
