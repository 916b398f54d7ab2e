// The calls of the list of runs, which comes with the page. The build gives this file a descriptor of `RunService` that has these
// methods alone (`console/buf.list.gen.yaml`): the others bring the descriptors of every result, of sessions and of memory.

import { ListRunsRequest_Order, RunService } from "#gen/runnel/v1/run_service_pb.js";

export const { listRuns, watchRuns } = RunService.method;
export const ListOrder = ListRunsRequest_Order;
