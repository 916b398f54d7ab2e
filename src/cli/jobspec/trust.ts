// `runnel trust`: the keys whose JobSpecs are run, and their audit, over the public API with the admin token.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import {
  type TrustEvent,
  TrustEventSchema,
  type TrustedKey,
  TrustedKey_State,
  TrustedKeySchema,
} from "#gen/runnel/job/v1/trust_pb.js";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { systemClock } from "../../platform/base/clock.ts";
import { thumbprint } from "../../platform/base/public-key.ts";
import { answerOne } from "../answer.ts";
import { CommandError } from "../command-error.ts";
import { type Service, withAdministration } from "../connect.ts";
import { example } from "../example.ts";
import { type ListView, printList } from "../list-view.ts";
import { outputOf, printsIds } from "../output.ts";
import { readPages } from "../pages.ts";
import { showTime } from "../table.ts";
import { addServiceFlags, type ServiceFlags } from "../target.ts";
import { addTermFlags, readTerms, type TermFlags } from "./trust-terms.ts";

/** The maximum number of keys that a list shows. */
const keysMax = 10_000;
const eventsMax = 1_000;

/** Defines `trust`. */
export function defineTrust(trust: Command): void {
  addList(trust);
  addAdd(trust);
  addUpdate(trust);
  addRevoke(trust);
  addEvents(trust);
}

function addList(trust: Command): void {
  printsIds(addServiceFlags(trust.command("list")))
    .description("list the keys by name, those of the service's settings first")
    .addHelpText("after", example("runnel trust list"))
    .action((flags: ServiceFlags, command: Command) =>
      withAdministration(flags, async (service) => {
        const { items, isCut } = await readKeys(service);
        const output = outputOf(command);
        await printList(output, keyList, items);
        if (isCut) {
          output.note(`there are more than ${keysMax}`, { note: "cut", keys: keysMax });
        }
      }),
    );
}

function addAdd(trust: Command): void {
  addTermFlags(printsIds(addServiceFlags(trust.command("add <public-key>"))))
    .description("trust a key, given as its 32 bytes in base64, as `runnel keys show` prints it")
    .addHelpText("after", example("runnel trust add 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= --kid portal-1"))
    .option("--kid <name>", "name of the key; unset means its thumbprint")
    .action((publicKey: string, { kid, ...flags }: ServiceFlags & TermFlags & { kid?: string }, command: Command) =>
      withAdministration(flags, async (service) => {
        const name = kid ?? thumbprint(Buffer.from(publicKey, "base64"));
        const { key } = await service.client(TrustService).createTrustedKey({
          key: { kid: name, publicKey, ...readTerms(flags).terms },
        });
        await answerKey(command, key, "added");
      }),
    );
}

function addUpdate(trust: Command): void {
  addTermFlags(printsIds(addServiceFlags(trust.command("update <kid>"))))
    .description("change validity, clients, regions and runners of a key; other terms stay")
    .addHelpText("after", example("runnel trust update portal-1 --until 2031-12-31"))
    .action((kid: string, flags: ServiceFlags & TermFlags, command: Command) =>
      withAdministration(flags, async ({ client }) => {
        const { terms, paths } = readTerms(flags);
        if (paths.length === 0) {
          throw new CommandError("nothing to change", {
            reason: "USAGE",
            fix: "name a term, as --until 90d",
            exitCode: 2,
          });
        }
        const { key } = await client(TrustService).updateTrustedKey({ key: { kid, ...terms }, updateMask: { paths } });
        await answerKey(command, key, "changed");
      }),
    );
}

function addRevoke(trust: Command): void {
  printsIds(addServiceFlags(trust.command("revoke <kid>")))
    .description("revoke a key permanently, on every replica at once")
    .addHelpText("after", example("runnel trust revoke portal-1"))
    .action((kid: string, flags: ServiceFlags, command: Command) =>
      withAdministration(flags, async ({ client }) => {
        const { key } = await client(TrustService).revokeTrustedKey({ kid });
        await answerKey(command, key, "revoked");
      }),
    );
}

function addEvents(trust: Command): void {
  printsIds(addServiceFlags(trust.command("events")))
    .description("list changes of keys and refused JobSpecs, newest first")
    .addHelpText("after", example("runnel trust events --type jobspec.refused"))
    .option("--type <type>", "only events of this type, such as key.revoked or jobspec.refused", "")
    .action(({ type, ...flags }: ServiceFlags & { type: string }, command: Command) =>
      withAdministration(flags, async ({ client }) => {
        const { items, isCut } = await readPages(async (request) => {
          const page = await client(TrustService).listTrustEvents({ type, ...request });
          return { items: page.events, nextPageToken: page.nextPageToken };
        }, eventsMax);
        const output = outputOf(command);
        await printList(output, eventList, items);
        if (isCut) {
          output.note(`these are the newest ${eventsMax}`, { note: "cut", events: eventsMax });
        }
      }),
    );
}

function readKeys({ client }: Service) {
  return readPages(async (request) => {
    const page = await client(TrustService).listTrustedKeys(request);
    return { items: page.keys, nextPageToken: page.nextPageToken };
  }, keysMax);
}

async function answerKey(command: Command, key: TrustedKey | undefined, done: string): Promise<void> {
  await answerOne(command, {
    ...{ schema: TrustedKeySchema, message: key, id: ({ kid }: TrustedKey) => kid },
    show: ({ kid }) => `${done} ${kid}`,
  });
}

const keyList: ListView<typeof TrustedKeySchema> = {
  ...{ name: "keys", schema: TrustedKeySchema, id: ({ kid }) => kid, row: rowOfKey },
  columns: ["KEY", "STATE", "STORED IN", "FROM", "UNTIL", "CLIENTS", "REGIONS", "RUNNERS"],
};

const eventList: ListView<typeof TrustEventSchema> = {
  ...{ name: "events", schema: TrustEventSchema, id: ({ eventId }) => eventId, row: rowOfEvent },
  columns: ["TIME", "TYPE", "BY", "KEY", "CODE", "DETAIL"],
};

function rowOfKey(key: TrustedKey): string[] {
  const [from, until] = [key.notBefore, key.notAfter].map((time) => time && timestampDate(time));
  return [
    key.kid,
    stateOf(key, from, until),
    key.isConfigured ? "settings" : "database",
    showTime(from),
    showTime(until),
    key.clientIds.join(" ") || "all",
    key.regions.join(" ") || "all",
    key.runners.join(" ") || "all",
  ];
}

function stateOf({ status }: TrustedKey, from: Date | undefined, until: Date | undefined): string {
  if (status !== TrustedKey_State.ACTIVE) {
    // A newer service may have states that this version does not know.
    return status === TrustedKey_State.REVOKED ? "revoked" : `state ${status}`;
  }
  const nowMs = systemClock.nowMs();
  if (from !== undefined && nowMs < from.getTime()) {
    return "not yet";
  }
  return until !== undefined && nowMs > until.getTime() ? "expired" : "trusted";
}

function rowOfEvent({ createTime, type, actor, kid, publicKey, errorCode, detail }: TrustEvent): string[] {
  const time = showTime(createTime && timestampDate(createTime));
  return [time, type, actor, kid || publicKey || "–", errorCode || "–", detail ?? "–"];
}
