// Adds and removes the addresses to which a run is pushed. Their hosts are checked when they are dialled; a URL that is invalid by
// itself is refused at once.

import { type PushConfigs, pushConfigsMax } from "../../platform/base/pushes.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Egress } from "../../platform/egress/post.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { announceCallback } from "../runs/callback.ts";
import { deletePushConfig, insertPushes, listPushConfigs, putPushConfig } from "../storage/push-config.ts";
import { lockRun } from "../storage/run.ts";

/** Creates the functions that work on the addresses of runs. */
export function createPushConfigs({
  db,
  wakeup,
  egress,
}: {
  readonly db: Db;
  readonly wakeup: Wakeup;
  readonly egress: Pick<Egress, "findProblem">;
}): PushConfigs {
  return {
    findProblem: (url) => egress.findProblem(url),
    list: (runId) => listPushConfigs(db, runId),
    put: async (runId, config, { pushesNow }) => {
      const isPut = await db.transaction().execute(async (trx) => {
        // The lock of the run puts the address before its end, or after it.
        const run = await lockRun(trx, runId);
        const done = await putPushConfig(trx, { runId, max: pushConfigsMax, config });
        const status = run?.status;
        if (done && pushesNow && (status === "completed" || status === "failed" || status === "cancelled")) {
          await insertPushes(trx, { runId, sequence: run?.last_sequence ?? 0, status, id: config.id });
        } else if (done && pushesNow && status === "waiting") {
          await insertPushes(trx, { runId, sequence: 0, status: "running", id: config.id });
        }
        return done;
      });
      announceCallback(wakeup, config.url);
      return isPut;
    },
    remove: (runId, id) => deletePushConfig(db, { runId, id }),
  };
}
