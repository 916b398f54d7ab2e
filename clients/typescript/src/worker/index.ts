// The entry of `@runnel/client/worker`: runners, and the two ways to connect them to a service.

// biome-ignore-start lint/performance/noBarrelFile: this is the list of what the package offers.
export type { Host } from "./host.ts";
export {
  completed,
  delta,
  failed,
  type Manifest,
  message,
  type Result,
  type Run,
  type Runner,
  state,
  type Usage,
} from "./runner.ts";
export { type RunnerServer, type ServeOptions, serveRunners } from "./serve.ts";
export { runWorker, type WorkerOptions } from "./worker.ts";
// biome-ignore-end lint/performance/noBarrelFile: see above.
