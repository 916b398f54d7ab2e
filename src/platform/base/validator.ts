// The validator of the field rules in the contract. It knows the rules of buf.validate and those that Runnel adds.

import { createRegistry } from "@bufbuild/protobuf";
import { createValidator, type Validator } from "@bufbuild/protovalidate";
import { file_runnel_options_v1_rules } from "#gen/runnel/options/v1/rules_pb.js";

/** Validates messages against the rules of the contract. */
export const validator: Validator = createValidator({ registry: createRegistry(file_runnel_options_v1_rules) });
