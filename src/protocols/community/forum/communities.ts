// Administers communities and their contracts.

import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import {
  type CommunityChange,
  type CommunityRow,
  findCommunity,
  insertCommunity,
  type NewCommunity,
  updateCommunity,
} from "../storage/community.ts";
import { type ContractRow, insertContract, type NewContract } from "../storage/community-contract.ts";
import { findAbiProblem, listAbiFunctions } from "./abi.ts";
import type { ForumDeps } from "./deps.ts";

/**
 * Creates a community.
 * @throws Fault COMMUNITY_EXISTS when the slug is taken.
 */
export async function addCommunity(
  { db, clock }: ForumDeps,
  community: Omit<NewCommunity, "id">,
): Promise<CommunityRow> {
  const row = await insertCommunity(db, { ...community, id: newUuid(clock.nowMs()) });
  if (row === undefined) {
    throw new Fault(
      reasons.COMMUNITY_EXISTS,
      `community ${JSON.stringify(community.slug)} already exists: give another slug`,
    );
  }
  return row;
}

/**
 * Changes a community.
 * @throws Fault COMMUNITY_NOT_FOUND when it is unknown.
 */
export async function changeCommunity(db: Db, id: string, change: CommunityChange): Promise<CommunityRow> {
  return (await updateCommunity(db, id, change)) ?? refuseUnknown();
}

/**
 * Returns a community.
 * @throws Fault COMMUNITY_NOT_FOUND when it is unknown.
 */
export async function requireCommunity(db: Db, id: string): Promise<CommunityRow> {
  return (await findCommunity(db, id)) ?? refuseUnknown();
}

/**
 * Adds a contract to a community.
 * @throws Fault CONTRACT_EXISTS when the community has this address, INVALID_ARGUMENT when the ABI is invalid.
 */
export async function addContract({ db, clock }: ForumDeps, contract: Omit<NewContract, "id">): Promise<ContractRow> {
  const problem = findAbiProblem(contract.abi);
  if (problem !== undefined) {
    throw invalidField("contract.abi", problem);
  }
  const { faucetFunction } = contract;
  if (faucetFunction !== null && !listAbiFunctions(contract.abi).some(({ name }) => name === faucetFunction)) {
    throw invalidField("contract.faucet_function", "is not a function of the ABI");
  }
  await requireCommunity(db, contract.communityId);
  const row = await insertContract(db, { ...contract, id: newUuid(clock.nowMs()) });
  if (row === undefined) {
    throw new Fault(reasons.CONTRACT_EXISTS, "the community already has a contract with this address");
  }
  return row;
}

function refuseUnknown(): never {
  throw new Fault(reasons.COMMUNITY_NOT_FOUND, "Community not found");
}
