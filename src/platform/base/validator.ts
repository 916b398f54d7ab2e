// The validator of the rules beside fields in the contract, with the rules that Runnel adds to those of buf.validate.

import { createRegistry } from "@bufbuild/protobuf";
import { createValidator, type Validator } from "@bufbuild/protovalidate";
import { file_runnel_options_v1_rules } from "#gen/runnel/options/v1/rules_pb.js";

export const validator: Validator = createValidator({ registry: createRegistry(file_runnel_options_v1_rules) });
