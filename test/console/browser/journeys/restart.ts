// A service in a process of its own that dies in mid-journey and starts again, on the same port and database.

import type { Script } from "../../../fakes/provider.ts";
import { openProvider } from "../../../fault/cluster.ts";
import { testDatabase } from "../../../harness/database.ts";
import { findFreePorts } from "../../../harness/free-ports.ts";
import { GrpcClient } from "../../../harness/grpc.ts";
import { startProcess } from "../../../harness/process.ts";

export async function setMortalStage(...scripts: readonly Script[]) {
  const { provider, environment: ofProvider } = await openProvider();
  provider.respond(...scripts);
  const [port] = await findFreePorts(1);
  const environment = {
    ...ofProvider,
    RUNNEL_CONSOLE_ENABLED: "true",
    RUNNEL_DATABASE_URL: await testDatabase(),
    RUNNEL_SERVER_PORT: String(port),
  };
  const service = await startProcess(environment);
  const restart = async (): Promise<void> => {
    await startProcess(environment);
  };
  return { provider, url: service.url, client: new GrpcClient(service.target), kill: service.kill, restart };
}

/** What the browser says of each call while the service is away. */
export const callsOfDeadService = /net::ERR_|status of 50[023]/;
