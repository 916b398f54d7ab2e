use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use ring::hmac;
use serde::Deserialize;

use crate::error::Error;

/// The body of a status callback. A repeated delivery has the same `callback_id`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct StatusCallback {
    pub session_id: String,
    pub client_id: String,
    pub status: String,
    pub error: String,
    pub output: String,
    pub turns: i32,
    pub duration_ms: i64,
    pub run_id: String,
    pub sequence: i64,
    pub callback_id: String,
}

const TOLERANCE_SECONDS: i64 = 120;

/// Checks the signature of a status callback over the body as it arrived, and reads the body. The reason of its error is
/// `CREDENTIALS_MISSING`, `NONCE_INVALID`, `TIMESTAMP_INVALID`, `TIMESTAMP_EXPIRED`, `SIGNATURE_INVALID` or `BODY_INVALID`.
///
/// It keeps no nonces: refuse an `X-Nonce` that you have seen in the last four minutes, or a `callback_id` that you have processed.
pub fn verify_callback(
    secret: &str,
    headers: &HeaderMap,
    body: &[u8],
    now: SystemTime,
) -> Result<StatusCallback, Error> {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty());
    let (Some(signature), Some(timestamp), Some(nonce)) =
        (header("x-signature"), header("x-timestamp"), header("x-nonce"))
    else {
        return Err(Error::invalid("CREDENTIALS_MISSING", "missing X-Signature, X-Timestamp or X-Nonce"));
    };
    let is_nonce = nonce.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if !is_nonce || !(8..=128).contains(&nonce.len()) {
        return Err(Error::invalid("NONCE_INVALID", "invalid X-Nonce"));
    }
    let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit()) && !timestamp.starts_with('0');
    let Some(seconds) = timestamp.parse::<i64>().ok().filter(|_| is_number) else {
        return Err(Error::invalid("TIMESTAMP_INVALID", "invalid X-Timestamp"));
    };
    let skew = seconds.saturating_sub(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64);
    if skew.abs() > TOLERANCE_SECONDS {
        return Err(Error {
            metadata: [("skew_seconds".into(), skew.to_string())].into(),
            ..Error::invalid("TIMESTAMP_EXPIRED", "X-Timestamp is more than two minutes away")
        });
    }
    let signed = [timestamp.as_bytes(), b".", nonce.as_bytes(), b".", body].concat();
    let claimed = signature.strip_prefix("sha256=").and_then(|text| hex::decode(text).ok()).unwrap_or_default();
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    hmac::verify(&key, &signed, &claimed).map_err(|_| {
        Error::invalid("SIGNATURE_INVALID", "invalid X-Signature: the body was changed, or the secret is another one")
    })?;
    serde_json::from_slice(body).map_err(|error| Error::invalid("BODY_INVALID", format!("invalid body: {error}")))
}
