// Who may call a method, as the contract says it.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Access, access as accessOption } from "#gen/runnel/options/v1/options_pb.js";
import { perMethod } from "./per-method.ts";

/** Clients alone, unless the method says otherwise. */
export const accessOf = perMethod(readAccess);

function readAccess(method: DescMethod): Exclude<Access, Access.UNSPECIFIED> {
  if (!method.parent.typeName.startsWith("runnel.")) {
    // Health and reflection: they tell nothing that anybody may not know.
    return Access.PUBLIC;
  }
  const access = getOption(method, accessOption);
  return access === Access.UNSPECIFIED ? Access.CLIENT : access;
}
