// A DOM type that the declarations of Connect name. The DOM library itself stays out: with it, `window` would type-check
// in a server. Goes away when @types/node declares the type.

type HeadersInit = NonNullable<RequestInit["headers"]>;
