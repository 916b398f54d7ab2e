// The descriptors that the service was built with, found as server reflection asks for them: by file, by symbol, by
// extension. Holds the files of the given services and all that these import.

import {
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

export interface DescriptorIndex {
  readonly serviceNames: readonly string[];
  /** By path, such as `runnel/v1/run.proto`. */
  findFile(path: string): DescFile | undefined;
  /** By the full name of a service, method, message, field, oneof, enum, enum value or extension. */
  findFileOfSymbol(name: string): DescFile | undefined;
  findFileOfExtension(extendedType: string, number: number): DescFile | undefined;
  /** Ascending; undefined when there is no such message. */
  listExtensionNumbers(extendedType: string): readonly number[] | undefined;
}

export function indexDescriptors(services: readonly DescService[]): DescriptorIndex {
  const files = collectFiles(services.map(({ file }) => file));
  const descs = files.flatMap((file) => [...nestedTypes(file)]);
  const filesByPath = new Map(files.map((file) => [pathOf(file), file]));
  const filesBySymbol = new Map(descs.flatMap((desc) => symbolsOf(desc).map((name) => [name, desc.file])));
  const messages = new Set(descs.filter(({ kind }) => kind === "message").map(({ typeName }) => typeName));
  const extensions = descs.filter((desc) => desc.kind === "extension");
  const extensionsOf = (type: string): DescExtension[] =>
    extensions.filter(({ extendee }) => extendee.typeName === type);
  return {
    serviceNames: services.map(({ typeName }) => typeName).toSorted(),
    findFile: (path) => filesByPath.get(path),
    findFileOfSymbol: (name) => filesBySymbol.get(name),
    findFileOfExtension: (type, number) => extensionsOf(type).find((extension) => extension.number === number)?.file,
    listExtensionNumbers: (type) =>
      messages.has(type)
        ? extensionsOf(type)
            .map(({ number }) => number)
            .toSorted((a, b) => a - b)
        : undefined,
  };
}

/** The files and all that they import, each once, the given ones first. */
export function collectFiles(roots: readonly DescFile[]): DescFile[] {
  const files = new Set(roots);
  // A set is walked in the order of insertion, and what is added on the way is walked as well.
  for (const file of files) {
    for (const dependency of file.dependencies) {
      files.add(dependency);
    }
  }
  return [...files];
}

/** The path by which other files import it. */
function pathOf(file: DescFile): string {
  return file.proto.name;
}

export function serializeFile(file: DescFile): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, file.proto);
}

type NamedDesc = DescMessage | DescEnum | DescExtension | DescService;

function symbolsOf(desc: NamedDesc): string[] {
  switch (desc.kind) {
    case "message":
      return [desc.typeName, ...[...desc.fields, ...desc.oneofs].map(({ name }) => `${desc.typeName}.${name}`)];
    case "enum":
      return [desc.typeName, ...desc.values.map(({ name }) => nameBeside(desc.typeName, name))];
    case "service":
      return [desc.typeName, ...desc.methods.map(({ name }) => `${desc.typeName}.${name}`)];
    case "extension":
      return [desc.typeName];
    default:
      return desc satisfies never;
  }
}

/** Protobuf puts the values of an enum beside it, not into it. */
function nameBeside(typeName: string, name: string): string {
  return typeName.slice(0, typeName.lastIndexOf(".") + 1) + name;
}
