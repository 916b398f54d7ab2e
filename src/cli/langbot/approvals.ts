// The commands about approvals. A decision names the digest of the request that its author has seen.

import { type Command, Option } from "commander";
import {
  Approval_Decision,
  Approval_State,
  Approval_StateSchema,
  ApprovalSchema,
} from "#gen/runnel/runner/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/runner/v1/approval_service_pb.js";
import { enumShape } from "../../platform/base/json/shape.ts";
import { addUrlFlag, withService } from "../connect.ts";
import { example } from "../example.ts";
import { addLimitFlag, answerOne, type ListFlags, listAll } from "./answer.ts";
import { approvalColumns, approvalRow, showApproval, stateWords } from "./show.ts";

interface ApprovalListFlags extends ListFlags {
  readonly run: string;
  readonly state?: string;
}

interface DecisionFlags {
  readonly url: string;
  readonly digest: string;
  readonly comment: string;
  readonly by: string;
}

/** Adds `approvals`, `approval`, `approve` and `reject`. */
export function addApprovals(runners: Command): void {
  addApprovalList(runners);
  addApproval(runners);
  addDecision(runners, { name: "approve", decision: Approval_Decision.APPROVE, about: "approve a request, once" });
  addDecision(runners, { name: "reject", decision: Approval_Decision.REJECT, about: "reject a request" });
}

function addApprovalList(runners: Command): void {
  addLimitFlag(addUrlFlag(runners.command("approvals")))
    .description("list requests for approval, newest first")
    .addHelpText("after", example("runnel runners approvals --state pending"))
    .option("--run <id>", "only of this run", "")
    .addOption(new Option("--state <state>", "only approvals in this state").choices(stateWords()))
    .action(({ run: runId, state: word = "", ...flags }: ApprovalListFlags, command: Command) => {
      const state: Approval_State = enumShape(Approval_StateSchema).numbers.get(word) ?? Approval_State.UNSPECIFIED;
      return listAll(command, flags, {
        name: "approvals",
        schema: ApprovalSchema,
        read: async ({ client }, request) => {
          const page = await client(ApprovalService).listApprovals({ runId, state, ...request });
          return { items: page.approvals, nextPageToken: page.nextPageToken };
        },
        columns: approvalColumns,
        row: approvalRow,
      });
    });
}

function addApproval(runners: Command): void {
  addUrlFlag(runners.command("approval <id>"))
    .description("show a request for approval in full")
    .addHelpText("after", example("runnel runners approval 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d"))
    .action((approvalId: string, { url }: { url: string }, command: Command) =>
      withService(url, async ({ client }) => {
        const { approval } = await client(ApprovalService).getApproval({ approvalId });
        await answerOne(command, { name: "approval", schema: ApprovalSchema, message: approval, show: showApproval });
      }),
    );
}

function addDecision(
  runners: Command,
  { name, decision, about }: { name: string; decision: Approval_Decision; about: string },
): void {
  addUrlFlag(runners.command(`${name} <approval>`))
    .description(about)
    .addHelpText(
      "after",
      example(`runnel runners ${name} 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d --digest ${"0f".repeat(32)}`),
    )
    .requiredOption("--digest <sha256>", "digest of the request that you have seen; `runnel runners approval` shows it")
    .option("--comment <text>", "comment for the runner and for later readers", "")
    .option("--by <name>", "who decides; unset means the id of the client", "")
    .action((approvalId: string, { url, digest, comment, by }: DecisionFlags, command: Command) =>
      withService(url, async ({ client }) => {
        const { approval } = await client(ApprovalService).decideApproval({
          approvalId,
          decision,
          digest,
          comment,
          decidedBy: by,
        });
        await answerOne(command, { name: "approval", schema: ApprovalSchema, message: approval, show: showApproval });
      }),
    );
}
