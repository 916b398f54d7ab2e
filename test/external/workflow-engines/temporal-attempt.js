// One attempt of the activity, in the environment that Temporal's own library has for tests: a server of Temporal is no npm package.

import { MockActivityEnvironment } from "@temporalio/testing";
import { research } from "./temporal.js";

const [attempt, isCancelled] = process.argv.slice(2);
const workflowExecution = { workflowId: "report/7", runId: "1" };
const environment = new MockActivityEnvironment({ workflowExecution, activityId: "1", attempt: Number(attempt) });
environment.on("heartbeat", (place) => {
  console.error(JSON.stringify(place));
  if (isCancelled === "cancelled") {
    environment.cancel();
  }
});
console.log(await environment.run(research, "sky").catch((error) => error.message));
process.exit();
