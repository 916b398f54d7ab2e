// This process as one of several workers of a primary process. In a process without a primary nothing happens.

import cluster from "node:cluster";

/** Sends a message to the primary. */
export function sendToPrimary(message: object): void {
  process.send?.(message);
}

/** Calls back when the primary has died, and not when this process leaves it. Without a callback, Node would end this process at once. */
export function onPrimaryLost(act: () => void): void {
  const { worker } = cluster;
  worker?.once("disconnect", () => {
    if (!worker.exitedAfterDisconnect) {
      worker.exitedAfterDisconnect = true;
      act();
    }
  });
}

/** Ends the connection to the primary, which keeps this process alive. */
export function leavePrimary(): void {
  cluster.worker?.disconnect();
}
