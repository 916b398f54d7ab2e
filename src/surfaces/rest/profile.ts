// The REST profile of a method.

import { create, type DescMethod, getOption } from "@bufbuild/protobuf";
import { ErrorBody, error_body, type RestProfile, RestProfileSchema, rest } from "#gen/runnel/options/v1/options_pb.js";
import { perMethod } from "../../platform/base/per-method.ts";

/** Returns the profile of the method's service, with the error body of the method if it sets one. */
export const profileOf: (method: DescMethod) => RestProfile = perMethod((method) => {
  const ofService = getOption(method.parent, rest);
  const errorBody = getOption(method, error_body);
  return errorBody === ErrorBody.UNSPECIFIED ? ofService : create(RestProfileSchema, { ...ofService, errorBody });
});
