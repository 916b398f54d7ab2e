// What a protocol adds to the service. `app/protocol-list.ts` lists the protocols; nothing else imports one.

import type { DescService } from "@bufbuild/protobuf";
import type { ConnectError, ServiceImpl } from "@connectrpc/connect";
import type { DayBudget } from "../agent/budget/day-budget.ts";
import type { Models } from "../agent/models/open.ts";
import type { Toolbox } from "../agent/tools/toolbox.ts";
import type { Hub } from "../engine/log/hub.ts";
import type { ResultLog } from "../engine/log/log.ts";
import type { Wakeup } from "../engine/log/wakeup.ts";
import type { Driver } from "../engine/runs/driver.ts";
import type { WorkDirs } from "../engine/sessions/work-dirs.ts";
import type { Retention } from "../engine/storage/retention.ts";
import type { RunTokens } from "../platform/auth/run-token.ts";
import type { Feed } from "../platform/base/feed.ts";
import type { SettingsTable } from "../platform/config/keys.ts";
import type { AppContext } from "../platform/context.ts";
import type { ServiceDeps } from "./deps.ts";

/** Its settings have their types in `Config`, by declaration merging. */
export type ProtocolSettings = Pick<SettingsTable, "keys"> & Partial<SettingsTable>;

export interface Protocol {
  readonly name: string;
  /** Services of the contract that it brings. */
  readonly services: readonly DescService[];
  readonly retention?: Retention;
  readonly settings?: ProtocolSettings;
  /** Opens its parts; they close with the context. */
  open(context: AppContext, core: Core): Promise<OpenProtocol>;
}

/** What the engine and the agent loop offer to protocols. */
export interface Core {
  readonly hub: Hub;
  readonly wakeup: Wakeup;
  readonly log: ResultLog;
  readonly models: Models;
  readonly toolbox: Toolbox;
  /** Limits what a client spends in a day. */
  readonly dayBudget: DayBudget;
  /** Makes the credentials that runs call this service with. */
  readonly runTokens: RunTokens;
  readonly workDirs: WorkDirs;
  /** Resolves when this process listens. */
  readonly ownAddress: Promise<OwnAddress>;
}

export interface OwnAddress {
  readonly host: string;
  readonly port: number;
}

export interface OpenProtocol {
  readonly drivers?: readonly Driver[];
  /** Says why this replica cannot serve; null while it can. */
  readonly whyUnfit?: () => string | null;
  /** Makes its handlers; called once, when runs can be started. */
  serve(deps: ServiceDeps): ServedProtocol;
}

export interface ServedProtocol {
  readonly services: readonly ServicePart[];
  readonly feeds?: readonly Feed[];
  /** Begins what starts runs without a caller; called once this replica can be reached. */
  readonly start?: () => void;
}

/** Handlers of a service, or of some of its methods: other parts may have the rest. */
export interface ServicePart<Desc extends DescService = DescService> {
  readonly service: Desc;
  readonly methods: Partial<ServiceImpl<Desc>>;
  /** Adds the details that callers of this service read from an error. */
  readonly addDetails?: (error: ConnectError) => ConnectError;
}

/** Keeps the type of the handlers while parts of all services are in one list. */
export function part<Desc extends DescService>(
  service: Desc,
  methods: Partial<ServiceImpl<Desc>>,
  addDetails?: (error: ConnectError) => ConnectError,
): ServicePart {
  return { service, methods, ...(addDetails && { addDetails }) };
}
