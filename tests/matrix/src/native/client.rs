//! Clients of ledgers of the core.

use samedeal_core as core;
use samedeal_core::{Client, ClientOptions};
use serde_json::Value;

use super::{Answer, number, write_progress};
use crate::format::{self, ClientCall, U64, record};

pub(super) fn client(given: &format::LedgerClient) -> Result<Client, core::Failure> {
    let format::LedgerClient { state, reader, session, block, lease, checkpoint_interval } = given;
    Client::new(ClientOptions {
        block: *block,
        lease: lease.map(|lease| lease.0),
        checkpoint_interval: checkpoint_interval.map(|interval| interval.0),
        ..ClientOptions::new(state.clone(), *reader, session.0)
    })
}

pub(super) fn ask(client: &mut Client, call: &ClientCall) -> Answer {
    let step = match *call {
        ClientCall::Open { now } => client.open(now.0),
        ClientCall::Claim { waits, now } => client.claim(waits, now.0),
        ClientCall::Commit { handle, count, now } => client.commit(handle.0, count, now.0),
        ClientCall::Renew { handle, now } => client.renew(handle.0, now.0),
        ClientCall::Release { handle, now } => client.release(handle.0, now.0),
        ClientCall::ChangeLease { milliseconds, now } => client.change_lease(milliseconds.0, now.0),
        ClientCall::CatchUp { now } => client.catch_up(now.0),
        ClientCall::TellCheckpoint { ref checkpoint, now } => client.tell_checkpoint(checkpoint.clone(), now.0),
        ClientCall::TellEntries { ref entries, now } => client.tell_entries(entries, now.0),
        ClientCall::TellAppended { appended, now } => client.tell_appended(appended, now.0),
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
        ClientCall::Block => return Ok(client.block().into()),
        ClientCall::Lease => return Ok(number(client.lease())),
    };
    let core::Instruction { action, number, entry, milliseconds } = step?;
    let (action, number, milliseconds) = (action.into(), U64(number), U64(milliseconds));
    Ok(record(format::Instruction { action, number, entry, milliseconds }))
}
