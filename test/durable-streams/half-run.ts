// A run whose service is killed in mid-sentence, for readers that go on.

import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, hangAfter } from "../fakes/provider.ts";
import { openProvider } from "../fault/cluster.ts";
import { testDatabase } from "../harness/database.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";

export interface HalfRun {
  /** URL of its log, before the kill and after it. */
  readonly url: string;
  /** Kills the service, and starts it again at the same port. The run is then written to its end. */
  restart(): Promise<void>;
}

/** Starts a run that has written half a sentence. */
export async function startHalfRun(): Promise<HalfRun> {
  const { provider, environment: ofProvider } = await openProvider();
  provider.respond(hangAfter("The board between them"), answer("The board between them will not stay."));
  const [port] = await findFreePorts(1);
  const environment = { ...ofProvider, RUNNEL_DATABASE_URL: await testDatabase(), RUNNEL_SERVER_PORT: String(port) };
  const service = await startProcess(environment);
  const client = new GrpcClient(service.target);
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "tester" } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "Write it." });
  return {
    url: `${service.url}/v1/runs/${runId}/stream`,
    restart: async () => {
      await service.kill();
      await startProcess(environment);
    },
  };
}
