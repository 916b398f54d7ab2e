// The disk that takes the log lines is full. Some lines are lost; callers notice nothing.

import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";
import { canMount, openSmallDisk } from "../harness/small-disk.ts";
import { until } from "../harness/wait.ts";

const diskBytes = 1_048_576;
const calls = 50;

test.skipIf(!canMount())("a full disk under the log stops no call, and lines continue when there is room", async () => {
  const disk = openSmallDisk(diskBytes);
  const logFile = join(disk.folder, "log");
  const service = await startProcess({ RUNNEL_DATABASE_URL: await testDatabase() }, { logFile });
  const client = new GrpcClient(service.target);
  const call = () => client.call(SessionService.method.listSessions, {});
  disk.fill();
  for (let index = 0; index < calls; index++) {
    await call();
  }
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const linesBefore = linesOf(service.log());
  disk.empty();
  await until("lines to be written again", async () => {
    await call();
    return linesOf(service.log()) > linesBefore + calls;
  });
  expect(await service.stop()).toBe(0);
});

function linesOf(log: string): number {
  return log.split("request.finished").length;
}
