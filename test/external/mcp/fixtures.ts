// The tools that the conformance suite of MCP calls: runners behind agents of the suite's names.

import { setTimeout as delay } from "node:timers/promises";
import { BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { completed, delta, failed, type Result, type Run } from "../../../clients/typescript/src/worker/runner.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import type { TestService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { runnerOf, startWorker } from "../../harness/worker.ts";

interface Fixture {
  readonly run: (run: Run) => AsyncGenerator<Result>;
  /** What the manifest says about the tool. */
  readonly mcp?: object;
  readonly asks?: boolean;
}

/** The smallest PNG and WAV that readers accept. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const made = (mimeType: string, content: string): Result => ({
  type: "artifact.created",
  data: { artifact_type: "file", mime_type: mimeType, content_base64: content },
});

const argumentsOf = ({ context }: Run): { readonly name?: string; readonly seconds?: number } =>
  JSON.parse(context.input?.text ?? "{}");

const always = (...results: readonly Result[]): Fixture => ({
  run: async function* () {
    yield* results;
  },
});

/** Waits, unless the run ends first. */
async function* pause({ signal }: Run, seconds: number): AsyncGenerator<Result> {
  yield delta("working");
  await delay(seconds * 1_000, undefined, { signal }).catch(() => undefined);
}

function fixtures(client: GrpcClient): Readonly<Record<string, Fixture>> {
  /** Asks for the approval of these actions, and ends when all are decided. */
  const asking = (...actions: readonly string[]): Fixture => ({
    asks: true,
    run: async function* ({ runId, signal }) {
      for (const action of actions) {
        yield { type: "action.requested", data: { action } };
      }
      const isPending = async () => {
        const { approvals } = await client.call(ApprovalService.method.listApprovals, { runId });
        return approvals.length < actions.length || approvals.some(({ state }) => state === Approval_State.PENDING);
      };
      while (!signal.aborted && (await isPending())) {
        await delay(50);
      }
      yield signal.aborted ? failed("cancelled", { code: "cancelled" }) : completed("done");
    },
  });
  return {
    test_simple_text: always(completed("This is a simple text response for testing.")),
    test_image_content: always(made("image/png", png), completed()),
    test_audio_content: always(made("audio/wav", wav), completed()),
    test_embedded_resource: always(made("text/plain", Buffer.from("embedded").toString("base64")), completed()),
    test_multiple_content_types: always(
      made("image/png", png),
      made("application/json", Buffer.from('{"test":"data"}').toString("base64")),
      completed("Multiple content types test:"),
    ),
    test_error_handling: always(failed("This tool intentionally returns an error for testing")),
    test_logging_tool: always(completed("logged nothing")),
    test_tool_with_progress: {
      run: async function* (run) {
        for (let step = 0; step < 4; step++) {
          yield* pause(run, 0.2);
        }
        yield completed("done");
      },
    },
    test_streaming_elicitation: asking("test_action"),
    test_trigger_tool_change: {
      run: async function* () {
        const binding = bindingOf("test_changed", { name: "test_simple_text" });
        await client.call(RunnerService.method.putBinding, { binding });
        yield completed("changed");
      },
    },
    greet: {
      mcp: { tasks: "never", input_schema: { type: "object", properties: { name: { type: "string" } } } },
      run: async function* (run) {
        yield completed(`Hello, ${argumentsOf(run).name}!`);
      },
    },
    slow_compute: {
      mcp: { input_schema: { type: "object", properties: { seconds: { type: "number" }, label: { type: "string" } } } },
      run: async function* (run) {
        yield* pause(run, argumentsOf(run).seconds ?? 0);
        yield run.signal.aborted ? failed("cancelled", { code: "cancelled" }) : completed("computed");
      },
    },
    failing_job: {
      mcp: { tasks: "required" },
      run: async function* (run) {
        yield* pause(run, 1);
        yield failed("the job failed");
      },
    },
    protocol_error_job: {
      // It ends without a terminal result.
      run: (run) => pause(run, 1),
    },
    confirm_delete: asking("delete"),
    multi_input: asking("first", "second"),
  };
}

function bindingOf(
  name: string,
  { name: runner = name, asks = false }: { name?: string; asks?: boolean | undefined } = {},
) {
  const scope = { kind: BindingScope_Kind.AGENT, id: name };
  return { bindingId: name, runnerId: idOf(runner), scope, ...(asks && { approvalPolicy: { required: true } }) };
}

function idOf(name: string): string {
  return `plugin:tests/mcp/${name}`;
}

/** Offers the fixtures at a service. */
export async function offerFixtures({ url, target }: TestService): Promise<void> {
  const client = new GrpcClient(target);
  const all = Object.entries(fixtures(client));
  // The suite's arguments are its own: a tool without a schema would ask for a message.
  const anything = { input_schema: { type: "object", properties: {} } };
  startWorker(
    url,
    all.map(([name, { run, mcp = {} }]) =>
      runnerOf(run, { id: idOf(name), metadata: { mcp: { ...anything, ...mcp }, chunk_content: "increment" } }),
    ),
  );
  await until("the runners", async () => {
    const { runners } = await client.call(RunnerService.method.listRunners, { pageSize: 250 });
    return runners.length === all.length;
  });
  for (const [name, { asks }] of all) {
    await client.call(RunnerService.method.putBinding, { binding: bindingOf(name, { asks }) });
  }
}
