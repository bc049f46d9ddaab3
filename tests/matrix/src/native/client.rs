//! Clients of ledgers of the core.

use samedeal_core as core;
use samedeal_core::{Client, ClientOptions};
use serde_json::Value;

use super::{Answer, number, write_progress};
use crate::format::{self, ClientCall, U64, record};

pub(super) fn client(given: &format::LedgerClient) -> Result<Client, core::Failure> {
    let format::LedgerClient { state, reader, session, block_size, lease_ms, checkpoint_interval } = given;
    Client::new(ClientOptions {
        block_size: *block_size,
        lease_ms: lease_ms.map(|lease_ms| lease_ms.0),
        checkpoint_interval: checkpoint_interval.map(|interval| interval.0),
        ..ClientOptions::new(state.clone(), *reader, session.0)
    })
}

pub(super) fn ask(client: &mut Client, call: &ClientCall) -> Answer {
    let step = match *call {
        ClientCall::Open { now_ms } => client.open(now_ms.0),
        ClientCall::Claim { waits, now_ms } => client.claim(waits, now_ms.0),
        ClientCall::Commit { handle, count, now_ms } => client.commit(handle.0, count, now_ms.0),
        ClientCall::Renew { handle, now_ms } => client.renew(handle.0, now_ms.0),
        ClientCall::Release { handle, now_ms } => client.release(handle.0, now_ms.0),
        ClientCall::ChangeLease { lease_ms, now_ms } => client.change_lease(lease_ms.0, now_ms.0),
        ClientCall::CatchUp { now_ms } => client.catch_up(now_ms.0),
        ClientCall::TellCheckpoint { ref checkpoint, now_ms } => client.tell_checkpoint(checkpoint.clone(), now_ms.0),
        ClientCall::TellEntries { ref entries, now_ms } => client.tell_entries(entries, now_ms.0),
        ClientCall::TellAppended { appended, now_ms } => client.tell_appended(appended, now_ms.0),
        ClientCall::Claimed { handle } => {
            let core::ClaimedRun { claim, start, count, committed, .. } = client.claimed(handle.0)?;
            return Ok(record(format::ClaimedRun { claim: U64(claim), start: U64(start), count, committed }));
        }
        ClientCall::IsLost { handle } => return Ok(client.claimed(handle.0)?.is_lost.into()),
        ClientCall::Forget { handle } => {
            client.forget(handle.0);
            return Ok(Value::Null);
        }
        ClientCall::Progress => return Ok(write_progress(client.progress())),
        ClientCall::BlockSize => return Ok(client.block_size().into()),
        ClientCall::LeaseMs => return Ok(number(client.lease_ms())),
    };
    let core::Instruction { action, number, entry, milliseconds } = step?;
    let (action, number, milliseconds) = (action.into(), U64(number), U64(milliseconds));
    Ok(record(format::Instruction { action, number, entry, milliseconds }))
}
