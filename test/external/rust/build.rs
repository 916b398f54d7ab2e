//! Generates the client from the contract. `protoc` comes with a crate, so the machine needs none.

use std::{env, error::Error, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let checkout = PathBuf::from(env::var("RUNNEL_CHECKOUT").unwrap_or_else(|_| "../../..".into()));
    let (proto, third_party) = (checkout.join("proto"), checkout.join("third_party"));
    println!("cargo:rerun-if-env-changed=RUNNEL_CHECKOUT");
    println!("cargo:rerun-if-changed={}", proto.display());
    env::set_var("PROTOC", protoc_bin_vendored::protoc_bin_path()?);
    let files = [
        proto.join("runnel/v1/run_service.proto"),
        third_party.join("google/rpc/error_details.proto"),
        third_party.join("google/rpc/status.proto"),
    ];
    let includes = [proto, third_party, protoc_bin_vendored::include_path()?];
    tonic_prost_build::configure()
        .build_server(false)
        .include_file("contract.rs")
        .compile_protos(&files, &includes)?;
    Ok(())
}
