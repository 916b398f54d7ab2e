// `runnel keys`: makes, lists and revokes API keys of clients over the public API with the admin token. Offline, it makes
// secrets for signatures of calls, and key pairs that sign JobSpecs.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import { type ApiKey, ApiKeySchema } from "#gen/runnel/v1/auth_pb.js";
import { CreateApiKeyResponseSchema } from "#gen/runnel/v1/auth_service_pb.js";
import { systemClock } from "../platform/base/clock.ts";
import { answerJson } from "./answer-json.ts";
import { readExpiry } from "./arguments.ts";
import { withAdministration } from "./connect.ts";
import { example } from "./example.ts";
import { type ListView, printList } from "./list-view.ts";
import { outputOf, printsIds } from "./output.ts";
import { readPages } from "./pages.ts";
import { showTime } from "./table.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";

/** As long as the hash that uses the secret. */
const secretBytes = 32;
/** The maximum number of keys that a list shows; --client narrows it. */
const keysMax = 10_000;

interface CreateFlags extends ServiceFlags {
  readonly client: string;
  readonly name: string;
  readonly expires?: Date;
}

interface ListFlags extends ServiceFlags {
  readonly client: string;
}

/** Defines `keys`. */
export function defineKeys(keys: Command): void {
  addCreate(keys);
  addList(keys);
  addRevoke(keys);
  addSecret(keys);
}

function addCreate(keys: Command): void {
  printsIds(addServiceFlags(keys.command("create")))
    .description("create a key and print it once, alone on standard output")
    .addHelpText("after", example("runnel keys create --client billing --expires 90d"))
    .requiredOption("--client <id>", "client that uses the key")
    .option("--name <name>", "name of the key", "")
    .option("--expires <when>", "expiry of the key, such as 30d or 2031-12-31; unset means never", readExpiry)
    .action(({ client, name, expires, ...flags }: CreateFlags, command: Command) =>
      withAdministration(flags, async ({ auth }) => {
        const response = await auth.createApiKey({
          clientId: client,
          displayName: name,
          ...(expires !== undefined && { expireTime: timestampFromDate(expires) }),
        });
        const { apiKey: made = create(ApiKeySchema) } = response;
        const output = outputOf(command);
        output.note(`key ${made.keyId} of client ${made.clientId}: it is shown this once`);
        await output.answer(answerJson(CreateApiKeyResponseSchema, response), () => response.key, [made.keyId]);
      }),
    );
}

function addList(keys: Command): void {
  printsIds(addServiceFlags(keys.command("list")))
    .description("list the keys, newest first, including revoked ones")
    .addHelpText("after", example("runnel keys list --client billing"))
    .option("--client <id>", "only keys of this client", "")
    .action(({ client, ...flags }: ListFlags, command: Command) =>
      withAdministration(flags, async ({ auth }) => {
        const { items: apiKeys, isCut } = await readPages(async (request) => {
          const page = await auth.listApiKeys({ clientId: client, ...request });
          return { items: page.apiKeys, nextPageToken: page.nextPageToken };
        }, keysMax);
        const output = outputOf(command);
        await printList(output, keyList, apiKeys);
        if (isCut) {
          output.note(`there are more than ${keysMax}: name a client with --client`, { note: "cut", keys: keysMax });
        }
      }),
    );
}

function addRevoke(keys: Command): void {
  printsIds(addServiceFlags(keys.command("revoke <id>")))
    .description("revoke a key")
    .addHelpText("after", example("runnel keys revoke key_4f9c2a"))
    .action((keyId: string, flags: ServiceFlags, command: Command) =>
      withAdministration(flags, async ({ auth }) => {
        const { apiKey = create(ApiKeySchema) } = await auth.revokeApiKey({ keyId });
        await outputOf(command).answer(
          answerJson(ApiKeySchema, apiKey),
          () => `revoked ${apiKey.keyId} of client ${apiKey.clientId}`,
          [apiKey.keyId],
        );
      }),
    );
}

function addSecret(keys: Command): void {
  keys
    .command("secret")
    .description("print a new random secret for RUNNEL_AUTH_HMAC_SECRET; works offline")
    .addHelpText("after", example("export RUNNEL_AUTH_HMAC_SECRET=$(runnel keys secret)"))
    .action(async (_flags: object, command: Command) => {
      const secret = randomBytes(secretBytes).toString("base64url");
      await outputOf(command).answer({ secret }, () => secret);
    });
}

const keyList: ListView<typeof ApiKeySchema> = {
  ...{ name: "api_keys", schema: ApiKeySchema, id: ({ keyId }) => keyId, row: rowOf },
  columns: ["KEY", "CLIENT", "NAME", "CREATED", "EXPIRES", "STATE"],
};

function rowOf(key: ApiKey): string[] {
  const [made, expires] = [key.createTime, key.expireTime].map((time) => time && timestampDate(time));
  return [key.keyId, key.clientId, key.displayName || "–", showTime(made), showTime(expires), stateOf(key, expires)];
}

function stateOf({ revokeTime }: ApiKey, expires: Date | undefined): string {
  if (revokeTime !== undefined) {
    return "revoked";
  }
  return expires !== undefined && expires.getTime() <= systemClock.nowMs() ? "expired" : "active";
}
