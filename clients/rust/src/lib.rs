#![doc = include_str!("../README.md")]

mod ask;
mod call;
mod callback;
mod client;
mod credentials;
mod error;
mod follow;
mod receipt;
mod result;

/// What the build script makes of the contract: its packages, and tables of them.
#[allow(clippy::all, rustdoc::all)]
mod contract {
    include!(concat!(env!("OUT_DIR"), "/contract.rs"));
    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

pub use ask::Function;
pub use call::Caller;
pub use callback::{StatusCallback, verify_callback};
pub use client::Client;
pub use contract::{google, runnel, runnel::v1};
pub use credentials::Credentials;
pub use error::{Error, Violation};
pub use follow::Results;
pub use receipt::{Statement, public_key, verify_receipt};
pub use result::{End, Entry, Text};
