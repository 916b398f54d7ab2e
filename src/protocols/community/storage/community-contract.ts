// The contracts that the agents of a community are told of.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { Page } from "./community.ts";
import type { CommunityContractTable } from "./schema.ts";

export type ContractRow = Selectable<CommunityContractTable>;
/** Without its source, which is large and rarely asked for. */
export type ContractHead = Omit<ContractRow, "source">;

export interface NewContract {
  readonly id: string;
  readonly communityId: string;
  readonly name: string;
  readonly chain: string;
  readonly address: string;
  readonly abi: string;
  readonly source: string | null;
  readonly faucetFunction: string | null;
}

const headColumns = [
  "id",
  "community_id",
  "name",
  "chain",
  "address",
  "abi",
  "faucet_function",
  "create_time",
] as const;

/** Undefined when the community has its address. */
export async function insertContract(
  db: Db,
  { communityId, faucetFunction, ...contract }: NewContract,
): Promise<ContractRow | undefined> {
  return await db
    .insertInto("community_contract")
    .values({ ...contract, community_id: communityId, faucet_function: faucetFunction })
    .onConflict((conflict) => conflict.doNothing())
    .returning([...headColumns, "source"])
    .executeTakeFirst();
}

/** In the order in which they were added: the first is what a community is about. */
export async function listContracts(db: Db, communityId: string): Promise<ContractHead[]> {
  return await db
    .selectFrom("community_contract")
    .select(headColumns)
    .where("community_id", "=", communityId)
    .orderBy("create_time")
    .orderBy("id")
    .execute();
}

/** By id. */
export async function listContractPage(
  db: Db,
  communityId: string,
  { after = "", limit }: Page,
): Promise<ContractHead[]> {
  return await db
    .selectFrom("community_contract")
    .select(headColumns)
    .where("community_id", "=", communityId)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** By one of the two; an address in any case of its letters. */
export async function findContract(
  db: Db,
  { communityId, by, value }: { communityId: string; by: "id" | "address"; value: string },
): Promise<ContractRow | undefined> {
  if (!isStorableText(value)) {
    return undefined;
  }
  return await db
    .selectFrom("community_contract")
    .select([...headColumns, "source"])
    .where("community_id", "=", communityId)
    .where(by === "id" ? sql<boolean>`id = ${value}` : sql<boolean>`lower(address) = lower(${value})`)
    .executeTakeFirst();
}

export async function deleteContract(db: Db, { communityId, id }: { communityId: string; id: string }): Promise<void> {
  await db.deleteFrom("community_contract").where("community_id", "=", communityId).where("id", "=", id).execute();
}
