// The contracts of communities, which their agents see.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { Page } from "./community.ts";
import type { CommunityContractTable } from "./schema.ts";

/** A contract of a community. */
export type ContractRow = Selectable<CommunityContractTable>;
/** A contract without its source, which is large and rarely requested. */
export type ContractHead = Omit<ContractRow, "source">;

/** A contract to insert. */
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

/** Inserts a contract. Returns undefined when the community already has its address. */
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

/** Lists contracts in the order in which they were added: the first is the community's main contract. */
export async function listContracts(db: Db, communityId: string): Promise<ContractHead[]> {
  return await db
    .selectFrom("community_contract")
    .select(headColumns)
    .where("community_id", "=", communityId)
    .orderBy("create_time")
    .orderBy("id")
    .execute();
}

/** Lists a page of contracts, by id. */
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

/** Finds a contract by its id or by its address in any case. Returns undefined when it is unknown. */
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

/** Deletes a contract. */
export async function deleteContract(db: Db, { communityId, id }: { communityId: string; id: string }): Promise<void> {
  await db.deleteFrom("community_contract").where("community_id", "=", communityId).where("id", "=", id).execute();
}
