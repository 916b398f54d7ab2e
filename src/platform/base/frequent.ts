// Returns which methods programs call constantly.

import { getOption } from "@bufbuild/protobuf";
import { frequent } from "#gen/runnel/options/v1/options_pb.js";
import { perMethod } from "./per-method.ts";

/** Returns true for a method that the contract marks as frequent. */
export const isFrequent = perMethod((method) => getOption(method, frequent));
