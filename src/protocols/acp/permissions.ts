// The permission requests of a coding agent as approvals of its run. The agent waits in its program, so the run waits with it and is not
// parked.
//
// P1  A request asks for an approval in the transaction of its log entry. It is answered once, after the commit that uses the approval.

import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { askForApproval, loggedApproval } from "../../engine/approvals/request.ts";
import type { DriverStep, RunContext } from "../../engine/runs/driver.ts";
import { type ApprovalState, findApproval, insertApproval, type NewApproval } from "../../engine/storage/approval.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { newUuid } from "../../platform/base/ids.ts";
import type { Db } from "../../platform/database/database.ts";
import { type Fold, parametersOf } from "./fold.ts";
import type { Happening } from "./happenings.ts";
import { approvalSecondsDefault } from "./limits.ts";

type Asked = Extract<Happening, { kind: "asked" }>;
type Outcome = RequestPermissionResponse["outcome"];

interface Waiting {
  readonly approval: NewApproval;
  readonly asked: Asked;
}

/** The requests of one run that wait for a person. */
export class Permissions {
  readonly #context: Pick<RunContext, "client" | "agent">;
  readonly #db: Db;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];

  constructor(
    context: Pick<RunContext, "client" | "agent">,
    { db, clock }: { readonly db: Db; readonly clock: Clock },
  ) {
    this.#context = context;
    this.#db = db;
    this.#clock = clock;
  }

  /** Returns how long it is until the next request expires; undefined when none waits. */
  get waitMs(): number | undefined {
    const ends = this.#waiting.map(({ approval }) => approval.expireMs);
    return ends.length === 0 ? undefined : Math.max(0, Math.min(...ends) - this.#clock.nowMs());
  }

  /** Returns the steps that ask a person. */
  ask(asked: Asked, fold: Fold): DriverStep[] {
    const steps = fold.takeAsked(asked.request.toolCall);
    const toolCall = fold.clean(asked.request.toolCall);
    const createMs = this.#clock.nowMs();
    const parameters = JSON.stringify(parametersOf(toolCall));
    const toolName = String(toolCall.kind ?? "other");
    const { title } = toolCall;
    const approval = askForApproval(
      { action: typeof title === "string" ? title : toolName, payload: parameters },
      {
        toolCallId: String(toolCall.toolCallId),
        expireSeconds: this.#context.agent.tools?.approvalSeconds || approvalSecondsDefault,
        stamp: { approvalId: newUuid(createMs), createMs },
      },
    );
    this.#waiting.push({ approval, asked });
    const value = { ...loggedApproval(approval), toolCallId: approval.toolCallId ?? "", toolName, parameters };
    return [
      ...steps,
      {
        kind: "commit",
        results: [{ payload: { case: "approvalRequested", value } }],
        effects: { own: (trx, { runId }) => insertApproval(trx, { ...approval, runId }) },
      },
    ];
  }

  /** Answers the requests that are decided or expired. */
  async *look(): AsyncGenerator<DriverStep, void> {
    for (const waiting of [...this.#waiting]) {
      const { approval, asked } = waiting;
      const row = await findApproval(this.#db, { client: this.#context.client, id: approval.approvalId });
      const state: ApprovalState = row?.state ?? "expired";
      if (state === "pending") {
        continue;
      }
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      if (state === "approved") {
        yield { kind: "commit", results: [], effects: { usedApprovals: [approval.approvalId] } };
      }
      asked.answer(state === "approved" ? permit(asked.request) : refuse(asked.request));
    }
  }

  /** Answers all requests, because the prompt is cancelled. */
  cancel(): void {
    for (const { asked } of this.#waiting.splice(0)) {
      asked.answer({ outcome: "cancelled" });
    }
  }
}

/** Permits a request once; for good only when the agent offers nothing else. */
export function permit(request: RequestPermissionRequest): Outcome {
  return choose(request, ["allow_once", "allow_always"]);
}

function refuse(request: RequestPermissionRequest): Outcome {
  return choose(request, ["reject_once", "reject_always"]);
}

function choose({ options }: RequestPermissionRequest, kinds: readonly string[]): Outcome {
  const [option] = kinds.flatMap((kind) => options.filter((each) => each.kind === kind));
  return option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option.optionId };
}
