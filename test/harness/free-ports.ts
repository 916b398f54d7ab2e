// Ports that are free now, for programs that cannot choose one themselves.

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) {
    server.close();
  }
  return ports;
}
