// What the operator reads about all clients: the replicas with their work, and usage by client. No client reads either.

import { describe, expect } from "vitest";
import { UsageGroup } from "#gen/runnel/v1/usage_service_pb.js";
import { answer } from "../fakes/provider.ts";
import { adminToken, operatorId } from "../harness/credentials.ts";
import { expectRefused, type Refusal, setStage, startConversation, test } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { surfaces } from "./surfaces.ts";

const needsAdmin: Refusal = {
  grpcCode: "PERMISSION_DENIED",
  httpStatus: 403,
  reason: "ACCESS_DENIED",
  text: /admin token/,
};

describe.each(surfaces)("over $name", (kind) => {
  test.override("stage", () => setStage(kind, { authAdminToken: adminToken }));

  test("the operator sees the replica that serves, and the run that it works on", async ({ stage }) => {
    const { api, provider, service } = stage;
    const operator = kind.connect(service, operatorId);
    const idle = { replicas: [{ runs: 0 }], queued: 0, waiting: 0, pending: 0, time: expect.any(String) };
    expect(await operator.listReplicas()).toMatchObject(idle);
    provider.respond((wire) => wire.hang());
    const { runId } = await startConversation(api);
    await provider.request(0);
    expect(await operator.listReplicas()).toMatchObject({
      replicas: [
        { replica_id: expect.any(String), lease_time: expect.any(String), slots: expect.any(Number), runs: 1 },
      ],
    });
    await api.cancelRun(runId);
    await Array.fromAsync(api.followRun(runId));
    await expectRefused(api.listReplicas(), needsAdmin);
  });

  test("the operator sees the usage of every client, of all or of one", async ({ stage }) => {
    const { api, provider, service } = stage;
    provider.respond(answer("one"), answer("two"), answer("three"));
    const end = async (of: Surface) => {
      const { runId } = await startConversation(of);
      await Array.fromAsync(of.followRun(runId));
    };
    await end(api);
    await end(api);
    await end(kind.connect(service, "stranger"));
    const operator = kind.connect(service, operatorId);
    const report = await operator.queryUsageOfClients({ groupBy: UsageGroup.CLIENT });
    expect(report.series).toMatchObject([
      { name: "key/local", total: { completed: 2 } },
      { name: "key/stranger", total: { completed: 1 } },
    ]);
    const ofOne = await operator.queryUsageOfClients({ client: "key/stranger" });
    expect(ofOne.series).toMatchObject([{ name: "", total: { completed: 1, failed: 0 } }]);
    expect((await operator.queryUsageOfClients({ client: "key/nobody" })).series).toEqual([]);
    await expectRefused(api.queryUsageOfClients({}), needsAdmin);
  });
});
