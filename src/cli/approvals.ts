// `runnel approvals`: what runs ask a person for. A decision names the digest of the request that its author has seen.

import { create } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import {
  type Approval,
  Approval_Decision,
  Approval_DecisionSchema,
  Approval_State,
  Approval_StateSchema,
  ApprovalSchema,
} from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { enumShape } from "../platform/base/json/shape.ts";
import { type Answer, addLimitFlag, answerOne, type ListFlags, listAll } from "./answer.ts";
import { askChoice, askYesNo, mayAsk } from "./ask.ts";
import { CommandError } from "./command-error.ts";
import { type Service, withService } from "./connect.ts";
import { example } from "./example.ts";
import { explain } from "./failure.ts";
import { fillIn } from "./form.ts";
import { decodeText, nameOf, readInput } from "./input.ts";
import type { Cut } from "./list-view.ts";
import { type Output, outputOf, type Paint, printsIds } from "./output.ts";
import { sheet, timeOf, wordOf, wordsOf } from "./sheet.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";
import { addWatchFlag } from "./watch-list.ts";

const approvalColumns = ["APPROVAL", "STATE", "AGENT", "ACTION", "ABOUT", "RUN", "EXPIRES"] as const;
const subjectCharsMax = 40;
/** The maximum size of the values of a form, as the service limits it. */
const valuesBytesMax = 65_536;

interface ApprovalListFlags extends ListFlags {
  readonly run: string;
  readonly state?: string;
}

interface DecisionFlags extends ServiceFlags {
  readonly digest?: string;
  readonly comment: string;
  readonly by: string;
  readonly values?: string;
}

/** Defines `approvals`. */
export function defineApprovals(approvals: Command): void {
  addApprovalList(approvals);
  addApproval(approvals);
  addDecision(approvals, { name: "approve", decision: Approval_Decision.APPROVE, about: "approve a request, once" });
  addDecision(approvals, { name: "reject", decision: Approval_Decision.REJECT, about: "reject a request" });
}

function addApprovalList(approvals: Command): void {
  addWatchFlag(addLimitFlag(addServiceFlags(approvals.command("list"))))
    .description("list requests for approval, newest first")
    .addHelpText("after", example("runnel approvals list --state pending"))
    .option("--run <id>", "only of this run", "")
    .addOption(new Option("--state <state>", "only approvals in this state").choices(wordsOf(Approval_StateSchema)))
    .action(({ run: runId, state: word = "", ...flags }: ApprovalListFlags, command: Command) => {
      const state: Approval_State = enumShape(Approval_StateSchema).numbers.get(word) ?? Approval_State.UNSPECIFIED;
      return listAll(command, flags, {
        name: "approvals",
        schema: ApprovalSchema,
        id: ({ approvalId }) => approvalId,
        read: async ({ client }, request) => {
          const page = await client(ApprovalService).listApprovals({ runId, state, ...request });
          return { items: page.approvals, nextPageToken: page.nextPageToken };
        },
        columns: approvalColumns,
        row: approvalRow,
        wide: {
          SESSION: ({ sessionId }) => sessionId,
          ASKED: ({ createTime }) => timeOf(createTime),
          "DECIDED BY": ({ decidedBy }) => decidedBy || "–",
          COMMENT: ({ comment }) => comment || "–",
        },
      });
    });
}

function addApproval(approvals: Command): void {
  printsIds(addServiceFlags(approvals.command("show <id>")))
    .description("show a request for approval in full")
    .addHelpText("after", example("runnel approvals show 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d"))
    .action((approvalId: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const { approval } = await client(ApprovalService).getApproval({ approvalId });
        await answerOne(command, approvalAnswer(approval));
      }),
    );
}

function addDecision(
  approvals: Command,
  { name, decision, about }: { name: string; decision: Approval_Decision; about: string },
): void {
  const command = printsIds(addServiceFlags(approvals.command(`${name} <approval>`)));
  if (decision === Approval_Decision.APPROVE) {
    command.option(
      "--values <json>",
      "values of the form that a server asks for, or - for standard input; unset asks a person, or means an empty object with --digest",
    );
  }
  command
    .description(about)
    .addHelpText(
      "after",
      example(`runnel approvals ${name} 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d --digest ${"0f".repeat(32)}`),
    )
    .option(
      "--digest <sha256>",
      "digest of the request that you have seen, as `runnel approvals show` prints it; unset shows the request to a person and asks",
    )
    .option("--comment <text>", "comment for the model or the runner, and for later readers", "")
    .option("--by <name>", "who decides; unset means the id of the client", "")
    .action((approvalId: string, { digest, comment, by, values, ...flags }: DecisionFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const approvals = client(ApprovalService);
        const given = values === undefined ? undefined : await readValues(values);
        const seen =
          digest === undefined
            ? await askAbout(approvals, approvalId, { name, given, output: outputOf(command) })
            : { digest, values: given ?? "" };
        const request = { approvalId, decision, comment, decidedBy: by, ...seen };
        const { approval } = await approvals.decideApproval(request);
        await answerOne(command, approvalAnswer(approval));
      }),
    );
}

async function readValues(values: string): Promise<string> {
  return values === "-" ? decodeText(nameOf(values), await readInput(values, valuesBytesMax)) : values;
}

/** Shows a request and asks for the decision. Returns the digest of what was shown, and the values of a form. Throws UNCONFIRMED without a yes. */
async function askAbout(
  approvals: Client<typeof ApprovalService>,
  approvalId: string,
  { name, given, output }: { readonly name: string; readonly given: string | undefined; readonly output: Output },
): Promise<{ readonly digest: string; readonly values: string }> {
  if (!mayAsk(output.asJson)) {
    const fix = "add --digest with the digest that `runnel approvals show` prints";
    throw new CommandError(`${name} needs the digest of the request`, { reason: "UNCONFIRMED", fix, exitCode: 2 });
  }
  const { approval = create(ApprovalSchema) } = await approvals.getApproval({ approvalId });
  output.note(showRequest(approval, output.paint));
  if (!(await askYesNo(`${name[0]?.toUpperCase()}${name.slice(1)} it?`))) {
    throw new CommandError("nothing was decided", { reason: "UNCONFIRMED" });
  }
  const { digest, form } = approval;
  const values = given ?? (form === undefined || name !== "approve" ? "" : await fillIn(form));
  if (values === undefined) {
    throw new CommandError("nothing was decided", { reason: "UNCONFIRMED" });
  }
  return { digest, values };
}

/** Asks a person at the terminal about a request of the run that is followed. Without a yes or a no the request stays open. */
export async function decideAtTerminal(
  { client }: Pick<Service, "client">,
  approvalId: string,
  output: Output,
): Promise<void> {
  const approvals = client(ApprovalService);
  const { approval = create(ApprovalSchema) } = await approvals.getApproval({ approvalId });
  if (approval.state !== Approval_State.PENDING) {
    return;
  }
  output.note(showRequest(approval, output.paint));
  const { form } = approval;
  const choice = await askChoice(
    form === undefined
      ? "Approve? [y = once, n = reject, Enter = leave it open]"
      : "Fill in the form? [y, n = decline, Enter = leave it open]",
  );
  const values = form !== undefined && choice === "yes" ? await fillIn(form) : "";
  if (choice === "none" || values === undefined) {
    output.note(`open: runnel approvals show ${approvalId}`);
    return;
  }
  const decision = choice === "yes" ? Approval_Decision.APPROVE : Approval_Decision.REJECT;
  try {
    await approvals.decideApproval({ approvalId, decision, digest: approval.digest, values });
  } catch (error) {
    // Another person may have decided meanwhile. The run goes on either way.
    output.note(`approval ${approvalId}: ${explain(error).error}`);
  }
}

function approvalAnswer(message: Approval | undefined): Answer<typeof ApprovalSchema> {
  return { schema: ApprovalSchema, message, id: ({ approvalId }) => approvalId, show: showApproval };
}

function approvalRow(
  { approvalId, state, agentName, action, subject, runId, expireTime }: Approval,
  cut: Cut,
): string[] {
  const about = cut(subject, subjectCharsMax);
  return [approvalId, wordOf(Approval_StateSchema, state), agentName || "–", action, about, runId, timeOf(expireTime)];
}

/** Prints an approval, and the command that approves it while it is pending. */
function showApproval(approval: Approval, paint: Paint): string {
  const { approvalId, digest, state, form } = approval;
  const values = form === undefined ? "" : " --values '{…}'";
  const line = `\nrunnel approvals approve ${approvalId} --digest ${digest}${values}`;
  return [showRequest(approval, paint), ...(state === Approval_State.PENDING ? [line] : [])].join("\n");
}

function showRequest(approval: Approval, paint: Paint): string {
  const { approvalId, action, state, runnerId, decidedBy, digest } = approval;
  const decision = wordOf(Approval_DecisionSchema, approval.decision);
  const decided = approval.decideTime && `${decision} by ${decidedBy}, ${timeOf(approval.decideTime)}`;
  return sheet(paint, `approval ${approvalId}  ${wordOf(Approval_StateSchema, state)}`, [
    ["action", action],
    // Printed whole, on one line: the person who decides has to see all of it.
    ["request", approval.request, "whole"],
    ["form", approval.form, "whole"],
    ["digest", digest],
    ["run", approval.runnerSequence === 0n ? approval.runId : `${approval.runId}, result ${approval.runnerSequence}`],
    ["session", approval.sessionId],
    ["call", approval.toolCallId],
    ["runner", runnerId],
    ["time", `asked ${timeOf(approval.createTime)}, until ${timeOf(approval.expireTime)}`],
    ["decided", decided],
    ["comment", approval.comment],
    ["used", approval.useTime && timeOf(approval.useTime)],
  ]);
}
