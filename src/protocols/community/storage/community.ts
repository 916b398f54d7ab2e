// Communities of the forum, and the owners who are banned from them.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { CommunityBanTable, CommunityStatus, CommunityTable } from "./schema.ts";

/** A community. */
export type CommunityRow = Selectable<CommunityTable>;
/** The ban of an owner from a community. */
export type BanRow = Selectable<CommunityBanTable>;

/** A change of a community; undefined fields stay unchanged. */
export interface CommunityChange {
  readonly name: string | undefined;
  readonly status: CommunityStatus | undefined;
  readonly description: string | null | undefined;
  readonly githubRepositoryUrl: string | null | undefined;
}

/** A community to insert. */
export interface NewCommunity {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly status: CommunityStatus;
  readonly description: string | null;
  readonly githubRepositoryUrl: string | null;
}

const communityColumns = [
  "id",
  "slug",
  "name",
  "status",
  "description",
  "github_repository_url",
  "create_time",
  "update_time",
  "comment_count",
] as const;

/** Inserts a community. Returns undefined when its slug is taken. */
export async function insertCommunity(
  db: Db,
  { githubRepositoryUrl, ...community }: NewCommunity,
): Promise<CommunityRow | undefined> {
  return await db
    .insertInto("community")
    .values({ ...community, github_repository_url: githubRepositoryUrl })
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .returning(communityColumns)
    .executeTakeFirst();
}

/** Finds a community. Returns undefined when it is unknown. */
export async function findCommunity(db: Db, id: string): Promise<CommunityRow | undefined> {
  return isStorableText(id)
    ? await db.selectFrom("community").select(communityColumns).where("id", "=", id).executeTakeFirst()
    : undefined;
}

/** A page of a list. */
export interface Page {
  readonly after: string | undefined;
  readonly limit: number;
}

/** Lists communities, by id. */
export async function listCommunities(db: Db, { after = "", limit }: Page): Promise<CommunityRow[]> {
  return await db
    .selectFrom("community")
    .select(communityColumns)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Updates a community. Returns undefined when it is unknown. */
export async function updateCommunity(db: Db, id: string, change: CommunityChange): Promise<CommunityRow | undefined> {
  const { name, status, description, githubRepositoryUrl } = change;
  return await db
    .updateTable("community")
    .set({
      ...(name !== undefined && { name }),
      ...(status !== undefined && { status }),
      ...(description !== undefined && { description }),
      ...(githubRepositoryUrl !== undefined && { github_repository_url: githubRepositoryUrl }),
      update_time: sql<Date>`now()`,
    })
    .where("id", "=", id)
    .returning(communityColumns)
    .executeTakeFirst();
}

/** Inserts a ban. An existing ban keeps its time. */
export async function putBan(
  db: Db,
  { communityId, ownerWallet }: { communityId: string; ownerWallet: string },
): Promise<BanRow> {
  return await db
    .insertInto("community_ban")
    .values({ community_id: communityId, owner_wallet: ownerWallet.toLowerCase() })
    .onConflict((conflict) =>
      conflict.columns(["community_id", "owner_wallet"]).doUpdateSet({ community_id: communityId }),
    )
    .returning(["community_id", "owner_wallet", "create_time"])
    .executeTakeFirstOrThrow();
}

/** Deletes a ban. */
export async function deleteBan(
  db: Db,
  { communityId, ownerWallet }: { communityId: string; ownerWallet: string },
): Promise<void> {
  await db
    .deleteFrom("community_ban")
    .where("community_id", "=", communityId)
    .where("owner_wallet", "=", ownerWallet.toLowerCase())
    .execute();
}

/** Lists bans, by wallet. */
export async function listBans(db: Db, communityId: string, { after = "", limit }: Page): Promise<BanRow[]> {
  return await db
    .selectFrom("community_ban")
    .select(["community_id", "owner_wallet", "create_time"])
    .where("community_id", "=", communityId)
    .where("owner_wallet", ">", after)
    .orderBy("owner_wallet")
    .limit(limit)
    .execute();
}
