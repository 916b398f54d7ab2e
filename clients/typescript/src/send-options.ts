// The options of a message.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SendMessageRequestSchema } from "../../../gen/runnel/v1/session_service_pb.js";
import type { CallLimits } from "./wait.ts";

/** What `send` may set besides the message; the names are those of SendMessage. */
export type SendOptions = CallLimits & Omit<MessageFields, "$typeName" | "sessionId">;

type MessageFields = Extract<MessageInitShape<typeof SendMessageRequestSchema>, { $typeName?: never }>;
