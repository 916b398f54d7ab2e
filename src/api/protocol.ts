// The interface between protocols and the service. `app/protocol-list.ts` lists the protocols; nothing else imports one.

import type { DescFile, DescService } from "@bufbuild/protobuf";
import type { ConnectError, ServiceImpl } from "@connectrpc/connect";
import type { Driver } from "../engine/runs/driver.ts";
import type { Retention } from "../engine/storage/retention.ts";
import type { ErrorForm } from "../platform/base/error-form.ts";
import type { Feed } from "../platform/base/feed.ts";
import type { OfferedAgents } from "../platform/base/offered-agents.ts";
import type { Reason } from "../platform/base/reasons.ts";
import type { TextQuestions } from "../platform/base/text-questions.ts";
import type { SettingsTable } from "../platform/config/keys.ts";
import type { AppContext } from "../platform/context.ts";
import type { EventTable } from "../platform/telemetry/events.ts";
import type { Core } from "./core.ts";
import type { ServiceDeps } from "./deps.ts";
import type { OfferedRunner } from "./runners.ts";

/** The settings of a protocol. Declaration merging adds their types to `Config`. */
export type ProtocolSettings = Pick<SettingsTable, "keys"> &
  Partial<Pick<SettingsTable, "findProblems" | "devDefaults">>;

/** A protocol: its name, its services, its storage and how to open it. */
export interface Protocol {
  readonly name: string;
  /** The services of the contract that the protocol adds. */
  readonly services: readonly DescService[];
  /** The files of the contract that none of these services imports. */
  readonly files?: readonly DescFile[];
  /** Examples of fields for /openapi.json, by the names of fields that only this protocol has. */
  readonly examples?: Readonly<Record<string, string | number>>;
  /** The reasons of failure that only this protocol gives. */
  readonly reasons?: Readonly<Record<string, Reason>>;
  /** The error bodies over REST that a document of the protocol describes. */
  readonly errorForms?: readonly ErrorForm[];
  /** The events that only this protocol reports. Declaration merging adds their functions to `Events`. */
  readonly events?: EventTable;
  /** The places at which tests make a process crash. Declaration merging adds their names to `Failpoint`. */
  readonly failpoints?: readonly string[];
  readonly retention?: Retention;
  readonly settings?: ProtocolSettings;
  /** Opens the parts of the protocol. They close with the context. */
  open(context: AppContext, core: Core): Promise<OpenProtocol>;
}

/** A protocol whose parts are open. */
export interface OpenProtocol {
  readonly drivers?: readonly Driver[];
  /** The runners that agents may name. Each is a preset too, unless the settings have a preset of its name. */
  readonly runners?: readonly OfferedRunner[];
  /** Returns the reason why this replica cannot serve, or null while it can. */
  readonly whyUnfit?: () => string | null;
  /** Creates the handlers. Called once, when runs can be started. */
  serve(deps: ServiceDeps): ServedProtocol;
}

/** The handlers and feeds of a protocol. */
export interface ServedProtocol {
  readonly services: readonly ServicePart[];
  readonly feeds?: readonly Feed[];
  /** The agents that callers of other surfaces may call by name. */
  readonly agents?: OfferedAgents;
  /** The questions of runs that wait for a person's text. */
  readonly questions?: TextQuestions;
  /** Starts the work that creates runs without a caller. Called once this replica can be reached. */
  readonly start?: () => void;
}

/** The handlers of a service, or of some of its methods: other parts may have the other methods. */
export interface ServicePart<Desc extends DescService = DescService> {
  readonly service: Desc;
  readonly methods: Partial<ServiceImpl<Desc>>;
  /** Adds the error details that callers of this service read. */
  readonly addDetails?: (error: ConnectError) => ConnectError;
}

/** Creates a part with typed handlers. The result has no type parameter, so parts of all services fit in one list. */
export function part<Desc extends DescService>(
  service: Desc,
  methods: Partial<ServiceImpl<Desc>>,
  addDetails?: (error: ConnectError) => ConnectError,
): ServicePart {
  return { service, methods, ...(addDetails && { addDetails }) };
}
