// Joins the parts of the core and of all protocols: services, files, reasons, error bodies, examples, events, failpoints and retention.

import type { DescFile, DescService } from "@bufbuild/protobuf";
import { modelCallRetention } from "../agent/model-calls/retention.ts";
import type { Protocol } from "../api/protocol.ts";
import { coreServices } from "../api/router.ts";
import type { Retention } from "../engine/storage/retention.ts";
import type { ErrorForm } from "../platform/base/error-form.ts";
import { coreFailpoints } from "../platform/base/failpoint.ts";
import { coreReasons, type Reason } from "../platform/base/reasons.ts";
import type { EventTable } from "../platform/telemetry/events.ts";
import * as list from "./protocol-list.ts";

/** All protocols, in the order of the list. */
export const protocols: readonly Protocol[] = Object.values(list);

/** All services of the contract, for surfaces that read descriptors. */
export const services: readonly DescService[] = [
  ...coreServices,
  ...protocols.flatMap((protocol) => protocol.services),
];

/** All files of the contract, without their imports. */
export const files: readonly DescFile[] = [
  ...services.map(({ file }) => file),
  ...protocols.flatMap((protocol) => protocol.files ?? []),
];

/** All reasons of failure: those of the core first. */
export const reasons: readonly Reason[] = [
  ...Object.values(coreReasons),
  ...protocols.flatMap((protocol) => Object.values(protocol.reasons ?? {})),
];

/** The error bodies of all protocols. */
export const errorForms: readonly ErrorForm[] = protocols.flatMap((protocol) => protocol.errorForms ?? []);

/** The examples of fields of all protocols. */
export const examples: Readonly<Record<string, string | number>> = Object.assign(
  {},
  ...protocols.map((protocol) => protocol.examples),
);

/** The events of all protocols. */
export const protocolEvents: EventTable = Object.assign({}, ...protocols.map((protocol) => protocol.events));

/** All failpoints: those of the core first. */
export const failpoints: readonly string[] = [
  ...coreFailpoints,
  ...protocols.flatMap((protocol) => protocol.failpoints ?? []),
];

/** The retention rules of the agent and of all protocols. */
export const retention: readonly Retention[] = [
  modelCallRetention,
  ...protocols.flatMap((protocol) => protocol.retention ?? []),
];
