import { randomUUID } from "node:crypto";
import { completed, delta } from "../clients/typescript/src/worker/runner.ts";
import { runWorker } from "../clients/typescript/src/worker/worker.ts";
import { Approval_State } from "../gen/runnel/v1/approval_pb.js";

await runWorker({
  url: process.env.URL ?? "http://127.0.0.1:8090",
  apiKey: process.env.RUNNEL_API_KEY ?? "",
  workerId: "greeter-1",
  runners: [
    {
      manifest: {
        id: "plugin:acme/greeter/default",
        name: "default",
        label: { en_US: "Greeter" },
        capabilities: { streaming: true },
      },
      async *run({ context, host }) {
        yield delta(`Hello, ${context.input?.text}.`);
        yield {
          type: "action.requested",
          data: { action: "send_gift", target: { user: "ada" }, payload: { size: 2 } },
        };
        // It was the second result. The id stands for this one execution, and stays the same when the call is repeated.
        const question = { sequence: 2n, useId: randomUUID(), waitSeconds: 20 };
        let answer = await host.getApproval(question);
        while (answer.state === Approval_State.PENDING) {
          answer = await host.getApproval(question);
        }
        yield delta(answer.state === Approval_State.APPROVED ? " A gift is on its way." : " No gift today.");
        yield completed();
      },
    },
  ],
});
