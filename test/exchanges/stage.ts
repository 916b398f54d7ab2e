// Exchanges at services in the test's process, through their public API.

import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ServiceError } from "@grpc/grpc-js";
import { expect, onTestFinished } from "vitest";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { Area } from "../tools/area.ts";

export interface ExchangeStage {
  readonly service: TestService;
  readonly client: GrpcClient;
  /** The workspace of the exchanges that this stage starts. */
  readonly area: Area;
}

export async function openStage(flags: Partial<Config> = {}): Promise<ExchangeStage> {
  const area = new Area();
  onTestFinished(() => area[Symbol.dispose]());
  area.giveToSession();
  const service = await startService(flags);
  return { service, client: new GrpcClient(service.target), area };
}

type Start = MessageInitShape<typeof ExchangeService.method.startExchange.input>;

export interface Started {
  readonly exchangeId: string;
  readonly runId: string;
}

export async function startExchange({ client, area }: ExchangeStage, more: Start = {}): Promise<Started> {
  return await client.call(ExchangeService.method.startExchange, { task: "count", workDir: area.root, ...more });
}

export type Answered = MessageShape<typeof ExchangeService.method.submitInbox.output>;

export async function submit(
  client: GrpcClient,
  { exchangeId }: Pick<Started, "exchangeId">,
  text: string,
  sequence = 0,
): Promise<Answered> {
  return await client.call(ExchangeService.method.submitInbox, { exchangeId, text, sequence });
}

export async function getOutbox(client: GrpcClient, { exchangeId }: Pick<Started, "exchangeId">) {
  return await client.call(ExchangeService.method.getOutbox, { exchangeId });
}

/** Returns the summaries of the results. */
export function summariesOf({ results }: Answered): string[] {
  return results.map(({ summary }) => summary);
}

/** Returns the reason of a call that must fail. */
export async function refusalOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    (answer) =>
      expect.unreachable(
        `answered: ${JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? String(value) : value))}`,
      ),
    (failure: ServiceError) => failure,
  );
  return reasonOf(error);
}
