// One request to a provider, whose server is closed with the test.

import { onTestFinished } from "vitest";
import type { ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { RecordedRequest, Script } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { request } from "./request.ts";
import type { ProviderStage } from "./stage.ts";

/** Plays a response. Returns its parts, and the request. */
export async function play(
  stage: ProviderStage,
  script: Script,
  asked: Partial<ModelRequest> = {},
  model = stage.modelName,
): Promise<{ parts: ModelPart[]; sent: RecordedRequest }> {
  const server = await openWireServer(() => script);
  const provider = stage.open({ origin: server.origin, apiKey: "k", clock: systemClock });
  onTestFinished(() => provider.close());
  const { signal } = new AbortController();
  const parts = await Array.fromAsync(provider.model(model).stream({ ...request, ...asked }, signal));
  return { parts, sent: await server.request(0) };
}
