// Returns which callers may call a method, according to the contract.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Access, access as accessOption } from "#gen/runnel/options/v1/options_pb.js";
import { perMethod } from "./per-method.ts";

/** Returns the access of a method. Default: clients only. */
export const accessOf = perMethod(readAccess);

function readAccess(method: DescMethod): Exclude<Access, Access.UNSPECIFIED> {
  if (!method.parent.typeName.startsWith("runnel.")) {
    // Health and reflection are public: their answers hold no secrets.
    return Access.PUBLIC;
  }
  const access = getOption(method, accessOption);
  return access === Access.UNSPECIFIED ? Access.CLIENT : access;
}
