// Returns which callers may call a method, according to the contract.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { Access, access as accessOption } from "#gen/runnel/options/v1/options_pb.js";
import { perMethod } from "./per-method.ts";

/** Returns the access of a method. Default: clients only. */
export const accessOf = perMethod(readAccess);

function readAccess(method: DescMethod): Exclude<Access, Access.UNSPECIFIED> {
  if (method.parent.typeName === Health.typeName) {
    // Load balancers have no credentials.
    return Access.PUBLIC;
  }
  const access = getOption(method, accessOption);
  return access === Access.UNSPECIFIED ? Access.CLIENT : access;
}
