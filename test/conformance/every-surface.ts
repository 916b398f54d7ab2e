// All surfaces as one: it follows a stream over each of them at the same time, and all must return the same.

import { expect } from "vitest";
import type { TestService } from "../harness/service.ts";
import type { Surface } from "./surface.ts";
import { findSurface, type SurfaceKind, surfaces } from "./surfaces.ts";

/** Unary calls use gRPC. */
export const everySurface: SurfaceKind = {
  name: "every surface",
  connect: (service, clientId) => ({
    ...findSurface("gRPC").connect(service, clientId),
    followSession: (...place) => followTogether(service, clientId, (api) => api.followSession(...place)),
    followRun: (...place) => followTogether(service, clientId, (api) => api.followRun(...place)),
  }),
};

/** Yields nothing before all streams have ended. */
async function* followTogether<T>(
  service: TestService,
  clientId: string | undefined,
  follow: (api: Surface) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const [first, ...others] = surfaces.map(({ name, connect }) => ({
    name,
    told: Array.fromAsync(follow(connect(service, clientId))),
  }));
  if (first === undefined || others.length === 0) {
    throw new Error("no surfaces to compare");
  }
  // A failure of the first stream is the caller's, however the others end.
  await Promise.allSettled(others.map(({ told }) => told));
  const told = await first.told;
  for (const other of others) {
    expect(await other.told, `over ${other.name}`).toEqual(told);
  }
  yield* told;
}
