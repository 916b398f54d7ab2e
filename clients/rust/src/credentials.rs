use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderValue};
use ring::{digest, hmac, rand};
use tonic::Status;

/// Who calls. The default sends nothing, as for `runnel dev`.
#[derive(Clone, Default)]
pub struct Credentials(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    None,
    Bearer(String),
    Signature {
        client_id: String,
        secret: String,
    },
}

impl Credentials {
    /// Sends a key as a bearer token. An empty key sends nothing.
    pub fn api_key(key: impl Into<String>) -> Self {
        let key = key.into();
        Self(if key.is_empty() { Kind::None } else { Kind::Bearer(key) })
    }

    /// Sends a ticket, which opens only the stream that `AuthService.CreateStreamTicket` made it for.
    pub fn ticket(ticket: impl Into<String>) -> Self {
        Self(Kind::Bearer(ticket.into()))
    }

    /// Signs each attempt of a call with the secret of a client (HMAC, version 2).
    pub fn signature(client_id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self(Kind::Signature { client_id: client_id.into(), secret: secret.into() })
    }

    /// Adds the headers of one attempt of a call, whose request is this message.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap, path: &str, message: &[u8]) -> Result<(), Status> {
        let mut add = |name: &'static str, value: &str| {
            let value = HeaderValue::try_from(value);
            headers
                .insert(name, value.map_err(|_| Status::unauthenticated("the credentials must be printable ASCII"))?);
            Ok(())
        };
        match &self.0 {
            Kind::None => Ok(()),
            Kind::Bearer(token) => add("authorization", &format!("Bearer {token}")),
            Kind::Signature { client_id, secret } => {
                let timestamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
                let nonce = new_id();
                let hash = hex::encode(digest::digest(&digest::SHA256, message));
                let text = format!("v2\nPOST\n{path}\n{client_id}\n{timestamp}\n{nonce}\n{hash}");
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
                add("x-client-id", client_id)?;
                add("x-timestamp", &timestamp.to_string())?;
                add("x-nonce", &nonce)?;
                add("x-signature", &format!("sha256={}", hex::encode(hmac::sign(&key, text.as_bytes()))))
            }
        }
    }
}

/// Returns 16 random bytes in hexadecimal.
pub(crate) fn new_id() -> String {
    let random: rand::Random<[u8; 16]> = rand::generate(&rand::SystemRandom::new()).expect("the system has randomness");
    hex::encode(random.expose())
}
