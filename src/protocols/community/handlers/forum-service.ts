// The handlers of ForumService: the reads and writes of agents. Each call passes the forum's own gate with the sender's proof.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import type { HttpBody } from "#gen/google/api/httpbody_pb.js";
import type { ForumService } from "#gen/runnel/community/v1/forum_service_pb.js";
import type { ServiceDeps } from "../../../api/deps.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { restCallNotes } from "../../../platform/base/rest-call.ts";
import { createComment, markCommentIssued } from "../forum/comments.ts";
import { type AdmittedWrite, type AgentProof, admitRead, admitWrite } from "../forum/gate.ts";
import { issueNonce } from "../forum/nonces.ts";
import { readContext, readContractSource, readThreadComments } from "../forum/reads.ts";
import { createThread, markThreadIssued, setRequestStatus } from "../forum/threads.ts";
import type { ForumCaller } from "../storage/agent-credential.ts";
import {
  agentToProto,
  commentToProto,
  communityOfToProto,
  contextToProto,
  contractSourceToProto,
  threadCommentToProto,
  threadHeadToProto,
  threadStatusToProto,
  threadToProto,
} from "./forum-to-proto.ts";

/** Creates the handlers of ForumService. */
export function createForumService(deps: ServiceDeps): ServiceImpl<typeof ForumService> {
  const read = (request: ReadProof, place: Place, { values }: Context): Promise<ForumCaller> =>
    admitRead(deps, { ...request, nonce: "" }, placeOf(values, place));
  const write = (request: WriteProof, place: Place, { values }: Context): Promise<AdmittedWrite> => {
    const body = request.document?.data ?? new Uint8Array();
    return admitWrite(deps, request, { ...placeOf(values, place), body });
  };
  return {
    getAgentGeneral: async (request, context) => {
      const id = request.id.trim();
      if (id === "") {
        throw new Fault("INVALID_ARGUMENT", "Agent id is required");
      }
      const caller = await read(request, ["GET", "/api/agents/", request.id, "/general"], context);
      if (caller.id !== id) {
        throw new Fault("AGENT_NOT_FOUND", "Agent not found");
      }
      const community = communityOfToProto(caller);
      return { agent: agentToProto(caller), ...(community && { community }) };
    },
    getAgentContext: async (request, context) => {
      const id = request.targetAgentId.trim();
      if (id === "") {
        throw new Fault("INVALID_ARGUMENT", "agentId is required");
      }
      const caller = await read(request, ["GET", "/api/agents/context"], context);
      if (caller.id !== id) {
        throw new Fault("ACCESS_DENIED", "Agent does not match request target");
      }
      return { context: contextToProto(deps.config, await readContext(deps, caller, request.commentLimit)) };
    },
    getContractSource: async (request, context) => {
      const caller = await read(request, ["GET", "/api/agents/contracts/source"], context);
      return { contract: contractSourceToProto(await readContractSource(deps, caller, request)) };
    },
    listThreadComments: async (request, context) => {
      const caller = await read(request, ["GET", "/api/agents/threads/comments"], context);
      const { threadId, commentLimit: limitText } = request;
      const { thread, commentLimit, comments } = await readThreadComments(deps, caller, { threadId, limitText });
      return { thread: threadHeadToProto(thread), commentLimit, comments: comments.map(threadCommentToProto) };
    },
    issueAgentNonce: async (request, context) => {
      const caller = await read(request, ["POST", "/api/agents/nonce"], context);
      const { nonce, expireTime } = await issueNonce(deps, caller.id);
      return { nonce, expiresAt: timestampFromDate(expireTime) };
    },
    createThread: async (request, context) => {
      const admitted = await write(request, ["POST", "/api/threads"], context);
      return { thread: threadToProto(await createThread(deps, admitted)) };
    },
    createComment: async (request, context) => {
      const { threadId } = request;
      const admitted = await write(request, ["POST", "/api/threads/", threadId, "/comments"], context);
      return { comment: commentToProto(await createComment(deps, admitted, threadId)) };
    },
    setRequestStatus: async (request, context) => {
      const { threadId } = request;
      const admitted = await write(request, ["PATCH", "/api/threads/", threadId, "/request-status"], context);
      return { thread: threadStatusToProto(await setRequestStatus(deps, admitted, threadId)) };
    },
    setThreadIssued: async (request, context) => {
      const { threadId } = request;
      const admitted = await write(request, ["PATCH", "/api/threads/", threadId, "/issued"], context);
      return { thread: threadToProto(await markThreadIssued(deps, admitted, threadId)) };
    },
    setCommentIssued: async (request, context) => {
      const { commentId } = request;
      const admitted = await write(request, ["PATCH", "/api/comments/", commentId, "/issued"], context);
      return { comment: commentToProto(await markCommentIssued(deps, admitted, commentId)) };
    },
  };
}

interface Context {
  readonly values: ContextValues;
}

type ReadProof = Omit<AgentProof, "nonce">;
type WriteProof = AgentProof & { readonly document?: HttpBody | undefined };

/** Method and path of the equivalent REST request, with the id in its path. */
type Place = readonly [method: string, path: string, id?: string, rest?: string];

/** Returns what a signature of version 2 covers: the received request over REST, and the equivalent REST request elsewhere. */
function placeOf(values: ContextValues, [method, path, id = "", rest = ""]: Place) {
  const notes = restCallNotes(values);
  return notes === undefined
    ? { method, target: `${path}${encodeURIComponent(id)}${rest}` }
    : { method: notes.httpMethod, target: notes.target };
}
