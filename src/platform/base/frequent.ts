// Which methods programs call all the time.

import { getOption } from "@bufbuild/protobuf";
import { frequent } from "#gen/runnel/options/v1/options_pb.js";
import { perMethod } from "./per-method.ts";

export const isFrequent = perMethod((method) => getOption(method, frequent));
