//! The subject of the conformance kit for clients: test/clients/README.md specifies its request and its answers.

use std::collections::HashMap;
use std::time::{Duration, UNIX_EPOCH};

use base64::prelude::{BASE64_STANDARD, Engine};
use prost::Message;
use runnel_client::v1::{GetReceiptResponse, SendMessageRequest};
use runnel_client::{Client, Credentials, End, Error, Function, Results, Text, verify_callback, verify_receipt};
use serde::Deserialize;
use serde_json::{Value, json};
use tonic::Status;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Request {
    url: String,
    credentials: HashMap<String, String>,
    call: String,
    timeout_ms: Option<u64>,
    idle_timeout_ms: Option<u64>,
    cancel_after: Option<usize>,
    run_id: String,
    after: i64,
    session_id: String,
    message: String,
    request_id: String,
    secret: String,
    headers: HashMap<String, String>,
    body: String,
    now_ms: u64,
    receipt: String,
    results: Vec<String>,
    public_key: String,
}

#[derive(Deserialize)]
struct Numbers {
    a: i64,
    b: i64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a request");
    let request: Request = serde_json::from_str(&line).expect("the request is a line of JSON");
    if let Err(error) = request.answer().await {
        print("error", describe(&error));
    }
}

impl Request {
    async fn answer(&self) -> Result<(), Error> {
        match self.call.as_str() {
            "follow" => self.show(self.client()?.follow(&self.run_id, self.after)).await,
            "ask" => self.show(self.client()?.ask(&self.session_id, &self.message, vec![add()])).await,
            "send" => self.send().await,
            "callback" => {
                let headers = (&self.headers).try_into().expect("headers");
                let now = UNIX_EPOCH + Duration::from_millis(self.now_ms);
                verify_callback(&self.secret, &headers, &decode(&self.body), now)?;
                print_valid()
            }
            "receipt" => {
                let receipt = GetReceiptResponse::decode(decode(&self.receipt).as_slice()).expect("a receipt");
                let results: Vec<_> = self.results.iter().map(decode).collect();
                verify_receipt(&receipt, &results, &decode(&self.public_key))?;
                print_valid()
            }
            call => panic!("unknown call {call}"),
        }
    }

    fn client(&self) -> Result<Client, Error> {
        let given = |name| self.credentials.get(name).cloned().unwrap_or_default();
        let credentials = match given("ticket") {
            ticket if !ticket.is_empty() => Credentials::ticket(ticket),
            _ if self.credentials.contains_key("secret") => Credentials::signature(given("client_id"), given("secret")),
            _ => Credentials::api_key(given("api_key")),
        };
        let mut client = Client::new(&self.url)?.with_credentials(credentials);
        if let Some(timeout) = self.timeout_ms {
            client = client.with_timeout(Duration::from_millis(timeout));
        }
        if let Some(timeout) = self.idle_timeout_ms {
            client = client.with_idle_timeout(Duration::from_millis(timeout));
        }
        Ok(client)
    }

    async fn send(&self) -> Result<(), Error> {
        let request = SendMessageRequest {
            session_id: self.session_id.clone(),
            message: self.message.clone(),
            request_id: self.request_id.clone(),
            ..Default::default()
        };
        let run = self.client()?.sessions().send_message(request).await?.into_inner();
        print("run", json!({ "run_id": run.run_id }));
        Ok(())
    }

    async fn show(&self, mut results: Results) -> Result<(), Error> {
        let mut text = Text::default();
        let mut end = None;
        for count in 1.. {
            if self.cancel_after == Some(count - 1) {
                drop(results);
                return Err(Status::cancelled("the caller cancelled the call").into());
            }
            let Some(entry) = results.try_next().await? else { break };
            print("result", json!({ "sequence": entry.result.sequence, "type": entry.type_name() }));
            text.add(&entry);
            end = entry.end();
        }
        let End { state, output, .. } = end.ok_or(Status::internal("the results ended without a terminal one"))?;
        let state = state.as_str_name().trim_start_matches("STATE_").to_lowercase();
        print("end", json!({ "state": state, "text": text.to_string(), "output": output }));
        Ok(())
    }
}

fn add() -> Function {
    let parameters =
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#;
    Function::new("add", "Adds two integers.", parameters, |Numbers { a, b }| async move {
        Ok::<_, Error>((a + b).to_string())
    })
}

fn decode(text: impl AsRef<str>) -> Vec<u8> {
    BASE64_STANDARD.decode(text.as_ref()).expect("base64")
}

fn describe(error: &Error) -> Value {
    let violations =
        error.violations.iter().map(|each| json!({ "field": each.field, "description": each.description }));
    json!({
        "code": name_of(error.code),
        "reason": error.reason,
        "metadata": error.metadata,
        "message": error.message,
        "violations": violations.collect::<Vec<_>>(),
    })
}

/// Turns NotFound into NOT_FOUND.
fn name_of(code: tonic::Code) -> String {
    let mut name = String::new();
    for (index, letter) in format!("{code:?}").char_indices() {
        if index > 0 && letter.is_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

fn print_valid() -> Result<(), Error> {
    println!(r#"{{"valid":true}}"#);
    Ok(())
}

fn print(name: &str, value: Value) {
    println!("{}", json!({ name: value }));
}
