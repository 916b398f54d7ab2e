// Writes docs/reference/libraries.md: the name of each RPC in each library, as the sources of the libraries say. Throws when a library
// does not reach an RPC.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, type DescMethod, type DescService, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { services } from "../src/app/protocols.ts";
import { moduleOf } from "./python-types.ts";
import { repositoryRoot } from "./run-command.ts";

export const librariesPagePath = "docs/reference/libraries.md";

const opening = `# RPCs by library

Every RPC is reachable from each of the [libraries](../../clients/README.md), over the library's own connection: with its credentials,
repetitions and errors. The first row of each table says what has the calls of the service, where \`client\` is the client that a
program has opened. The other rows have the names of the calls there. \`npm run generate\` reads them from the sources of the libraries.

What takes more than one call has a name of its own in all of them: \`follow\` reads \`TailRun\` through every break, and \`ask\` runs your
functions between runs.
`;

/** How one library reaches a service. */
interface Library {
  readonly title: string;
  /** Returns the expression that has the calls of a service. */
  readonly clientOf: (service: DescService) => string;
  /** Returns the name of an RPC there; undefined when the library does not have it. */
  readonly callOf: (method: DescMethod) => string | undefined;
}

const libraries: readonly Library[] = [typescript(), python(), go(), java(), rust()];

export function printLibrariesPage(): string {
  return `${[opening, ...services.map(printService)].join("\n")}\nNext: [RPCs and routes](rpcs.md)\n`;
}

function printService(service: DescService): string {
  const rows = [
    ["RPC", ...libraries.map(({ title }) => title)],
    libraries.map(() => "---").concat("---"),
    ["", ...libraries.map((library) => `\`${library.clientOf(service)}\``)],
    ...service.methods.map((method) => [
      `[\`${method.name}\`](rpcs.md#${service.name}.${method.name})`,
      ...libraries.map((library) => `\`${callOf(library, method)}\``),
    ]),
  ];
  return `## ${service.typeName}\n\n${rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}

function callOf(library: Library, method: DescMethod): string {
  const call = library.callOf(method);
  if (call === undefined) {
    throw new Error(`the library for ${library.title} does not reach ${method.parent.typeName}.${method.name}`);
  }
  return call;
}

/** The package has gen/ of each proto, below \`@runnel/client/gen\`. */
function typescript(): Library {
  const members = membersOf(
    "clients/typescript/src/client.ts",
    /readonly (?<member>\w+): Client<typeof (?<service>\w+)>/g,
  );
  return {
    title: "TypeScript",
    clientOf: ({ name }) => {
      const member = members.get(name);
      return member === undefined ? `client.client(${name})` : `client.${member}`;
    },
    callOf: ({ localName }) => localName,
  };
}

function python(): Library {
  const own = /self\.(?<member>\w+) = (?<service>\w+\.\w+)\(transport\)/g;
  const members = membersOf("clients/python/runnel_client/client.py", own);
  const classOf = (service: DescService) => `${moduleOf(service.file.proto.package)}.${service.name}`;
  return {
    title: "Python",
    clientOf: (service) => {
      const member = members.get(classOf(service));
      return member === undefined ? `${classOf(service)}(client.transport)` : `client.${member}`;
    },
    callOf: (method) => {
      const types = readSource(`clients/python/runnel_client/${moduleOf(method.parent.file.proto.package)}.pyi`);
      const [, body = ""] = types.split(`\nclass ${method.parent.name}(_Service):`);
      const name = snakeCase(method.name);
      return body.split("\nclass ")[0]?.includes(`def ${name}(`) ? name : undefined;
    },
  };
}

function go(): Library {
  const members = membersOf("clients/go/client.go", /(?<member>\w+) +\w+\.(?<service>\w+)Client\n/g);
  return {
    title: "Go",
    clientOf: (service) => {
      const member = members.get(service.name);
      return member === undefined
        ? `${goPackageOf(service)}.New${service.name}Client(client.Conn())`
        : `client.${member}`;
    },
    callOf: ({ parent, name }) => {
      const stubs = readSource(`clients/go/gen/${parent.file.name}_grpc.pb.go`);
      return stubs.includes(`func (c *${lowerFirst(parent.name)}Client) ${name}(`) ? name : undefined;
    },
  };
}

/** The generated code names the package \`jobv1\`. */
function goPackageOf(service: DescService): string {
  return service.file.proto.package.split(".").slice(-2).join("");
}

/** The jar has the stubs of each proto. \`call\` and \`stream\` take their descriptors of methods. */
function java(): Library {
  const folder = "clients/java/src/main/java/com/runnel/client";
  const own = /of \{@code (?<service>\w+)\}\s+\*\/\s+public \w+ (?<member>\w+)\(\)/g;
  const members = membersOf(`${folder}/Runnel.java`, own);
  return {
    title: "Java",
    clientOf: (service) => {
      const member = members.get(service.name);
      return member === undefined ? "client" : `client.${member}()`;
    },
    // A member has every call of its service.
    callOf: ({ parent, localName, methodKind, name }) => {
      const member = members.get(parent.name);
      if (member === undefined) {
        return `client.${methodKind === "unary" ? "call" : "stream"}(${parent.name}Grpc.get${name}Method(), …)`;
      }
      return readSource(`${folder}/${upperFirst(member)}.java`).includes(` ${localName}(`) ? localName : undefined;
    },
  };
}

/** The crate makes stubs of the descriptors that it has. */
function rust(): Library {
  const contract = readFileSync(join(repositoryRoot, "clients/rust/contract.binpb"));
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, contract));
  const own = /pub fn (?<member>\w+)\(&self\) -> (?<service>\w+)Client<Caller>/g;
  const members = membersOf("clients/rust/src/client.rs", own);
  return {
    title: "Rust",
    clientOf: ({ name }) => {
      const member = members.get(name);
      return member === undefined ? `${name}Client::new(client.caller())` : `client.${member}()`;
    },
    callOf: ({ parent, name }) => {
      const methods = registry.getService(parent.typeName)?.methods ?? [];
      return methods.some((method) => method.name === name) ? snakeCase(name) : undefined;
    },
  };
}

/** Returns the members of a client by their services. */
function membersOf(path: string, pattern: RegExp): ReadonlyMap<string, string> {
  const found = [...readSource(path).matchAll(pattern)].map(({ groups = {} }) => [groups.service, groups.member]);
  if (found.length === 0) {
    throw new Error(`${path} has no services, as far as ${pattern} finds them`);
  }
  return new Map(found as [string, string][]);
}

function readSource(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8");
}

function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
