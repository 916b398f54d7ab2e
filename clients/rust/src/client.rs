use std::sync::Arc;
use std::time::Duration;

use tonic::transport::{ClientTlsConfig, Endpoint};

use crate::call::{Caller, Connection};
use crate::credentials::Credentials;
use crate::error::Error;
use crate::v1::approval_service_client::ApprovalServiceClient;
use crate::v1::receipt_service_client::ReceiptServiceClient;
use crate::v1::run_service_client::RunServiceClient;
use crate::v1::session_service_client::SessionServiceClient;
use crate::v1::{SendMessageRequest, SendMessageResponse};

/// The service sends an empty message every 15 s, so three of them are missing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(45);
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// The service's largest message has 4 MiB.
pub(crate) const RECEIVED_BYTES_MAX: usize = 8 << 20;

/// A client of a service. Its clones share one connection.
///
/// Each call, also of a generated client, carries the credentials. Unary calls that the contract marks as idempotent, and those with
/// a request id, are repeated for up to a minute when they fail in transit. The library fills an empty request id.
#[derive(Clone)]
pub struct Client {
    pub(crate) caller: Caller,
    pub(crate) idle_timeout: Duration,
}

impl Client {
    /// Returns a client of the service at a URL such as `http://127.0.0.1:8090` or `https://runnel.example`. It connects with its
    /// first call, so an error means that the URL is invalid. An `https` URL trusts the certificates of the system.
    pub fn new(url: impl Into<String>) -> Result<Self, Error> {
        let url = url.into();
        let refused = |error| Error::invalid("URL_INVALID", format!("invalid URL {url:?}: {error}"));
        let endpoint = Endpoint::from_shared(url.clone()).map_err(|error| refused(error.to_string()))?;
        match endpoint.uri().scheme_str() {
            Some("http") => Ok(Self::over(endpoint)),
            Some("https") => {
                let tls = ClientTlsConfig::new().with_native_roots();
                Ok(Self::over(endpoint.tls_config(tls).map_err(|error| refused(error.to_string()))?))
            }
            _ => Err(refused("it must begin with http:// or https://".into())),
        }
    }

    /// Returns a client over an endpoint of your own, as for other certificates.
    pub fn over(endpoint: Endpoint) -> Self {
        let endpoint = endpoint
            .connect_timeout(DIAL_TIMEOUT)
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_INTERVAL);
        let connection = Arc::new(Connection::new(endpoint));
        let caller = Caller { connection, credentials: Credentials::default(), timeout: None };
        Self { caller, idle_timeout: IDLE_TIMEOUT }
    }

    /// Returns a client with other credentials on the same connection.
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.caller.credentials = credentials;
        self
    }

    /// Returns a client whose calls end after this time, with all their attempts.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.caller.timeout = Some(timeout);
        self
    }

    /// Returns a client that opens a followed stream again when it was silent for this time. The default is 45 s, and the service
    /// sends a sign of life every 15 s.
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Returns what every generated client takes, such as `v1::schedule_service_client::ScheduleServiceClient::new(client.caller())`.
    pub fn caller(&self) -> Caller {
        self.caller.clone()
    }

    pub fn sessions(&self) -> SessionServiceClient<Caller> {
        SessionServiceClient::new(self.caller()).max_decoding_message_size(RECEIVED_BYTES_MAX)
    }

    pub fn runs(&self) -> RunServiceClient<Caller> {
        RunServiceClient::new(self.caller()).max_decoding_message_size(RECEIVED_BYTES_MAX)
    }

    pub fn approvals(&self) -> ApprovalServiceClient<Caller> {
        ApprovalServiceClient::new(self.caller())
    }

    pub fn receipts(&self) -> ReceiptServiceClient<Caller> {
        ReceiptServiceClient::new(self.caller()).max_decoding_message_size(RECEIVED_BYTES_MAX)
    }

    /// Sends a message to a session, and returns as soon as its run is durable. `sessions().send_message` has all settings.
    pub async fn send(&self, session_id: &str, message: &str) -> Result<SendMessageResponse, Error> {
        let request =
            SendMessageRequest { session_id: session_id.into(), message: message.into(), ..Default::default() };
        Ok(self.sessions().send_message(request).await?.into_inner())
    }
}
