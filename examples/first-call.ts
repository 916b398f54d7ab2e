import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";

const transport = createGrpcTransport({ baseUrl: "http://127.0.0.1:8090" });
const sessions = createClient(SessionService, transport);
const { sessionId } = await sessions.createSession({ agent: { name: "first" } });
const { runId } = await sessions.sendMessage({ sessionId, message: "Say hello." });
for await (const { results } of createClient(RunService, transport).tailRun({ runId })) {
  for (const { payload } of results) {
    if (payload.case === "messageDelta") {
      process.stdout.write(payload.value.chunk?.content ?? "");
    }
  }
}
