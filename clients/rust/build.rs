//! Generates the messages and the clients of all services from the descriptors of the contract, and what prost leaves out of them:
//! which calls may be repeated, and the names of the types of results.

use std::{env, error::Error, fmt::Write, fs, path::PathBuf};

use prost::Message;
use prost_types::{FileDescriptorSet, MethodDescriptorProto, method_options::IdempotencyLevel};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=contract.binpb");
    let set = FileDescriptorSet::decode(fs::read("contract.binpb")?.as_slice())?;
    let tables = repeatable_calls(&set)? + &result_types(&set)?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("tables.rs"), tables)?;
    tonic_prost_build::configure().build_server(false).include_file("contract.rs").compile_fds(set)?;
    Ok(())
}

/// Writes a function from the path of a unary call that may be repeated to the number of its `request_id`; 0 when it has none.
fn repeatable_calls(set: &FileDescriptorSet) -> Result<String, Box<dyn Error>> {
    let mut code = "pub(crate) fn repeatable(path: &str) -> Option<u32> {\n    match path {\n".to_owned();
    for file in &set.file {
        for service in &file.service {
            for method in service.method.iter().filter(|method| !method.server_streaming()) {
                let request_id = request_id_of(set, method);
                let level =
                    method.options.as_ref().map_or(IdempotencyLevel::IdempotencyUnknown, |o| o.idempotency_level());
                if request_id != 0 || level != IdempotencyLevel::IdempotencyUnknown {
                    let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                    writeln!(code, "        {path:?} => Some({request_id}),")?;
                }
            }
        }
    }
    Ok(code + "        _ => None,\n    }\n}\n")
}

fn request_id_of(set: &FileDescriptorSet, method: &MethodDescriptorProto) -> i32 {
    let is_input = |package: &str, name: &str| method.input_type() == format!(".{package}.{name}");
    let mut messages = set.file.iter().flat_map(|file| file.message_type.iter().map(|each| (file.package(), each)));
    let input = messages.find(|(package, each)| is_input(package, each.name())).map(|(_, each)| each);
    let field = input.and_then(|each| each.field.iter().find(|field| field.name() == "request_id"));
    field.map_or(0, |field| field.number())
}

/// Writes the dotted names of all types of results, which are the names of their fields, and a function from a result to its name.
fn result_types(set: &FileDescriptorSet) -> Result<String, Box<dyn Error>> {
    let mut messages = set.file.iter().filter(|file| file.package() == "runnel.v1").flat_map(|file| &file.message_type);
    let result = messages.find(|each| each.name() == "RunResult").ok_or("the contract has no RunResult")?;
    let (mut names, mut arms) = (String::new(), String::new());
    for field in result.field.iter().filter(|field| field.oneof_index.is_some()) {
        let words: Vec<&str> = field.name().split('_').collect();
        let variant: String = words.iter().map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        writeln!(names, "    {:?},", words.join("."))?;
        writeln!(arms, "        Payload::{variant}(_) => {:?},", words.join("."))?;
    }
    Ok(format!(
        "pub(crate) const TYPES: &[&str] = &[\n{names}];\n\
         pub(crate) fn type_of(payload: &crate::v1::run_result::Payload) -> &'static str {{\n    \
         use crate::v1::run_result::Payload;\n    match payload {{\n{arms}    }}\n}}\n"
    ))
}
