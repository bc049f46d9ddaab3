//! Clients of ledgers in the notation of the golden cases.

use serde::{Deserialize, Serialize};

use super::U64;

/// A client, by its options. Absent options are not set.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LedgerClient {
    pub state: String,
    pub reader: u32,
    pub session: U64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<U64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_interval: Option<U64>,
}

/// The calls of a client. Calls of other objects have most of these names too, with other arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "call", content = "args", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ClientCall {
    Open { now_ms: U64 },
    Claim { waits: bool, now_ms: U64 },
    Commit { handle: U64, count: Option<u32>, now_ms: U64 },
    Renew { handle: U64, now_ms: U64 },
    Release { handle: U64, now_ms: U64 },
    ChangeLease { lease_ms: U64, now_ms: U64 },
    CatchUp { now_ms: U64 },
    TellCheckpoint { checkpoint: Option<String>, now_ms: U64 },
    TellEntries { entries: Vec<String>, now_ms: U64 },
    TellAppended { appended: bool, now_ms: U64 },
    Claimed { handle: U64 },
    IsLost { handle: U64 },
    Forget { handle: U64 },
    Progress,
    BlockSize,
    LeaseMs,
}

/// The next instruction of a client.
#[derive(Serialize)]
pub struct Instruction {
    pub action: String,
    pub number: U64,
    pub entry: String,
    pub milliseconds: U64,
}

/// A claim that a client has handed out.
#[derive(Serialize)]
pub struct ClaimedRun {
    pub claim: U64,
    pub start: U64,
    pub count: u32,
    pub committed: u32,
}
