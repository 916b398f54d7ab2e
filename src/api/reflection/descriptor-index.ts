// Looks up the service's own descriptors for server reflection: by file, by symbol, by extension. Holds the files of the given
// services and all files that they import. Serializes the files of the contract too.

import {
  clone,
  create,
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FileOptions_OptimizeMode,
  FileOptionsSchema,
} from "@bufbuild/protobuf/wkt";

/** An index of descriptors. Lookups return undefined for an unknown name. */
export interface DescriptorIndex {
  readonly serviceNames: readonly string[];
  /** Finds a file by its path, such as `runnel/v1/run.proto`. */
  findFile(path: string): DescFile | undefined;
  /**
   * Finds the file that defines a symbol, by the full name of a service, method, message, field, oneof, enum, enum value or
   * extension.
   */
  findFileOfSymbol(name: string): DescFile | undefined;
  findFileOfExtension(extendedType: string, number: number): DescFile | undefined;
  /** Returns the extension numbers in ascending order, or undefined when the message is unknown. */
  listExtensionNumbers(extendedType: string): readonly number[] | undefined;
}

/** Builds the index of the files of these services and of their imports. */
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

/** Returns the files and all their imports, each once and after its own imports. */
export function collectFiles(roots: readonly DescFile[]): DescFile[] {
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    if (!files.has(file)) {
      file.dependencies.forEach(add);
      files.add(file);
    }
  };
  roots.forEach(add);
  return [...files];
}

/** Returns the path by which other files import this file. */
function pathOf(file: DescFile): string {
  return file.proto.name;
}

/** Serializes a file as a `FileDescriptorProto`. */
export function serializeFile(file: DescFile): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, toProto(file));
}

/** Serializes the files and all their imports as a `FileDescriptorSet`. */
export function serializeFiles(files: readonly DescFile[]): Uint8Array {
  const set = create(FileDescriptorSetSchema, { file: collectFiles(files).map(toProto) });
  return toBinary(FileDescriptorSetSchema, set);
}

function toProto({ proto }: DescFile): FileDescriptorProto {
  if (proto.name !== "google/protobuf/descriptor.proto") {
    return proto;
  }
  const whole = clone(FileDescriptorProtoSchema, proto);
  whole.options = create(FileOptionsSchema, descriptorProtoOptions);
  return whole;
}

/** protobuf-es leaves these options out. Code generators need them: they name the code that a language has for the file. */
const descriptorProtoOptions = {
  goPackage: "google.golang.org/protobuf/types/descriptorpb",
  javaPackage: "com.google.protobuf",
  javaOuterClassname: "DescriptorProtos",
  csharpNamespace: "Google.Protobuf.Reflection",
  objcClassPrefix: "GPB",
  ccEnableArenas: true,
  optimizeFor: FileOptions_OptimizeMode.SPEED,
};

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

/** Returns the full name of an enum value. Protobuf puts values beside their enum, not into it: `a.B` with `C` gives `a.C`. */
function nameBeside(typeName: string, name: string): string {
  return typeName.slice(0, typeName.lastIndexOf(".") + 1) + name;
}
