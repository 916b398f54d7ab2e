// The methods of the contract for callers in this process: messages in, messages out. Access check, interceptors and handlers are
// those of the router; the bytes of a wire are left out.

import type { DescMethod, DescService } from "@bufbuild/protobuf";
import {
  type ContextValues,
  createServiceImplSpec,
  type Interceptor,
  type MethodImplSpec,
  type ServiceImpl,
} from "@connectrpc/connect";

/** A method with everything that surrounds its handler. */
export interface LocalMethod {
  readonly implementation: MethodImplSpec;
  /** Throws the ConnectError of a caller that may not call the method. */
  readonly assertAccess: (values: ContextValues, method: DescMethod) => void;
  readonly interceptors: readonly Interceptor[];
}

/** The longest timeout that a caller may ask for, in milliseconds: longer than any stream stays open. */
export const callTimeoutMsMax = 2 * 3_600_000;

/** The local methods by their descriptor. */
export type LocalMethods = ReadonlyMap<DescMethod, LocalMethod>;

/** The handlers of a service, or of some of its methods. */
interface Part {
  readonly service: DescService;
  readonly methods: Partial<ServiceImpl<DescService>>;
}

/** Returns the methods of these parts. A method without a handler answers UNIMPLEMENTED, as behind the router. */
export function createLocalMethods(
  parts: readonly Part[],
  surroundings: Omit<LocalMethod, "implementation">,
): LocalMethods {
  const specs = parts.flatMap(({ service, methods }) => Object.values(createServiceImplSpec(service, methods).methods));
  return new Map(specs.map((implementation) => [implementation.method, { implementation, ...surroundings }]));
}
