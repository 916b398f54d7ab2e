use std::collections::HashMap;

use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD as BASE64_URL, Engine};
use prost::Message;
use ring::{digest, signature};
use serde::{Deserialize, Deserializer};

use crate::contract::TYPES;
use crate::error::Error;
use crate::result::Entry;
use crate::v1::{GetReceiptResponse, Jwk, RunResult};

/// The signed content of a receipt.
#[derive(Debug, Clone, Deserialize)]
pub struct Statement {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(rename = "iss")]
    pub issuer: String,
    pub run_id: String,
    #[serde(default)]
    pub job_id: String,
    #[serde(default)]
    pub region: String,
    #[serde(default)]
    pub job_spec_sha256: String,
    pub entries: usize,
    pub first_hash: String,
    pub last_hash: String,
    pub counts: HashMap<String, usize>,
    pub status: String,
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub started_at: String,
    pub ended_at: String,
    pub issued_at: String,
    pub mark_interval: usize,
    #[serde(deserialize_with = "read_base64")]
    pub marks: Vec<u8>,
}

const STATEMENT_TYPE: &str = "runnel.receipt.v1";
const ENTRIES_PER_BLOCK: usize = 64;
const MARK_BYTES: usize = 8;
const MARKS_MAX: usize = 65_536;
const UNKNOWN: &str = "unknown";

/// Checks a receipt and the log of its run offline. The results are those of [`Entry::bytes`], in order. The key is one that you
/// trust, such as [`public_key`] of a key of `receipts().get_jwks` that you kept. The reason of its error is `RECEIPT_INVALID` when
/// the receipt is not signed by the key, and `LOG_MISMATCH` when the log is not the signed one.
pub fn verify_receipt(
    receipt: &GetReceiptResponse,
    results: &[impl AsRef<[u8]>],
    key: &[u8],
) -> Result<Statement, Error> {
    let payload = verify_jws(&receipt.jws, key)?;
    if !receipt.statement.is_empty() && receipt.statement.as_bytes() != payload {
        return Err(bad_receipt("the statement beside the signed text is another one"));
    }
    let statement: Statement = serde_json::from_slice(&payload)
        .map_err(|error| bad_receipt(&format!("the statement is unreadable: {error}")))?;
    if statement.kind != STATEMENT_TYPE {
        return Err(bad_receipt(&format!(
            "the statement is not of the type {STATEMENT_TYPE}: it may have a newer version"
        )));
    }
    statement.refuse_contradictions()?;
    statement.check_log(results)?;
    Ok(statement)
}

/// Returns the key of a JSON Web Key, for [`verify_receipt`].
pub fn public_key(key: &Jwk) -> Result<Vec<u8>, Error> {
    let raw = BASE64_URL.decode(&key.x).unwrap_or_default();
    if raw.len() != 32 || key.kty != "OKP" || key.crv != "Ed25519" {
        return Err(Error::invalid("KEY_INVALID", "the JSON Web Key is not an Ed25519 key"));
    }
    Ok(raw)
}

fn verify_jws(jws: &str, key: &[u8]) -> Result<Vec<u8>, Error> {
    let [header, payload, mac] = jws.split('.').collect::<Vec<_>>()[..] else {
        return Err(bad_receipt("it is not a compact JWS: it must have three parts separated by dots"));
    };
    let decode = |part| BASE64_URL.decode(part).map_err(|_| bad_receipt("a part is not base64url without padding"));
    // The service writes the header in one way only, so no other text that the key signed can pass for a receipt.
    if decode(header)? != header_of(key).as_bytes() {
        return Err(bad_receipt("its header names another key, or another type of text"));
    }
    let signed = &jws[..header.len() + 1 + payload.len()];
    signature::UnparsedPublicKey::new(&signature::ED25519, key)
        .verify(signed.as_bytes(), &decode(mac)?)
        .map_err(|_| bad_receipt("invalid signature: it was changed, or another key signed it"))?;
    decode(payload)
}

fn header_of(key: &[u8]) -> String {
    let x = BASE64_URL.encode(key);
    let thumbprint =
        digest::digest(&digest::SHA256, format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#).as_bytes());
    let kid = BASE64_URL.encode(thumbprint);
    let jwk = format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}"#);
    format!(r#"{{"alg":"EdDSA","typ":"runnel-receipt+jws","kid":"{kid}","jwk":{jwk}}}"#)
}

impl Statement {
    fn refuse_contradictions(&self) -> Result<(), Error> {
        let mut interval = 1;
        while self.entries.div_ceil(interval) > MARKS_MAX {
            interval *= 2;
        }
        let sum = self.counts.values().try_fold(0_usize, |sum, count| sum.checked_add(*count));
        let marks = MARK_BYTES * self.entries.div_ceil(interval);
        if self.entries < 1 || sum != Some(self.entries) || self.mark_interval != interval || self.marks.len() != marks
        {
            return Err(bad_receipt("the statement contradicts itself: its entries, counts and marks do not match"));
        }
        Ok(())
    }

    /// Computes the hash chain of the log, which docs/signed-jobs.md defines, and compares it with each mark, so that it can name
    /// the first bad entry.
    fn check_log(&self, results: &[impl AsRef<[u8]>]) -> Result<(), Error> {
        let start = format!("runnel.run-log.v1\n{}", self.run_id.to_lowercase());
        let mut value = digest::digest(&digest::SHA256, start.as_bytes());
        let mut block = digest::Context::new(&digest::SHA256);
        block.update(value.as_ref());
        let mut confirmed = 0;
        for (index, stored) in results.iter().map(AsRef::as_ref).enumerate() {
            let place = index + 1;
            if place > self.entries {
                return Err(bad_log(place, place, "it continues after the last signed entry"));
            }
            let mut length = Vec::new();
            prost::encoding::encode_varint(stored.len() as u64, &mut length);
            block.update(&length);
            block.update(stored);
            value = block.clone().finish();
            if place % ENTRIES_PER_BLOCK == 0 {
                block = digest::Context::new(&digest::SHA256);
                block.update(value.as_ref());
            }
            if place % self.mark_interval == 0 || place == self.entries {
                let mark = self.marks.chunks(MARK_BYTES).nth((place - 1) / self.mark_interval);
                if mark != Some(&value.as_ref()[..MARK_BYTES]) {
                    return Err(bad_log(confirmed + 1, place, "it is missing, changed or out of order"));
                }
                confirmed = place;
            }
        }
        if results.len() < self.entries {
            return Err(bad_log(results.len() + 1, self.entries, "it is missing"));
        }
        if hex::encode(value) != self.last_hash {
            return Err(bad_log(1, self.entries, "the hash of the whole log is another one"));
        }
        self.check_summary(results)
    }

    /// Refuses a statement that says something else than the log that it signs. Types that are newer than this library have names
    /// only in the statement.
    fn check_summary(&self, results: &[impl AsRef<[u8]>]) -> Result<(), Error> {
        let mut found: HashMap<&str, usize> = HashMap::new();
        let mut end = None;
        let mut last_type = UNKNOWN;
        for (index, stored) in results.iter().map(AsRef::as_ref).enumerate() {
            let result = RunResult::decode(stored).map_err(|_| bad_log(index + 1, index + 1, "it is unreadable"))?;
            let entry = Entry { result, bytes: Vec::new() };
            (end, last_type) = (entry.end(), entry.type_name());
            *found.entry(last_type).or_default() += 1;
        }
        let mut signed: HashMap<&str, usize> = HashMap::new();
        for (name, count) in self.counts.iter().filter(|(_, count)| **count > 0) {
            *signed.entry(TYPES.iter().find(|known| *known == name).unwrap_or(&UNKNOWN)).or_default() += count;
        }
        if signed != found {
            return Err(bad_log(1, self.entries, "the log has other numbers of results of each type"));
        }
        let ended = end.map(|end| (end.state.as_str_name().to_lowercase(), end.code));
        let signed = (format!("state_{}", self.status), self.code.clone());
        if last_type != UNKNOWN && ended != Some(signed) {
            return Err(bad_log(self.entries, self.entries, "the statement says that the run ended otherwise"));
        }
        Ok(())
    }
}

fn read_base64<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<u8>, D::Error> {
    BASE64_STANDARD.decode(String::deserialize(text)?).map_err(serde::de::Error::custom)
}

fn bad_receipt(message: &str) -> Error {
    Error::invalid("RECEIPT_INVALID", format!("invalid receipt: {message}"))
}

fn bad_log(first: usize, last: usize, message: &str) -> Error {
    Error {
        metadata: [("first".into(), first.to_string()), ("last".into(), last.to_string())].into(),
        ..Error::invalid("LOG_MISMATCH", format!("the log differs from its receipt at entry {last}: {message}"))
    }
}
