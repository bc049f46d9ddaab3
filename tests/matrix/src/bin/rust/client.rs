//! Clients of ledgers of the Rust host.

use matrix::format::{self, ClientCall, U64, record};
use samedeal::Error;
use samedeal::ledger::{self, Client, ClientOptions, Instruction};
use serde_json::Value;

use super::{Answer, number, write_progress};

pub fn client(given: &format::LedgerClient) -> Result<Client, Error> {
    let format::LedgerClient { state, reader, session, block_size, lease_ms, checkpoint_interval } = given;
    let mut options = ClientOptions::new(state, *reader, session.0);
    options.block_size = *block_size;
    options.lease_ms = lease_ms.map(|lease_ms| lease_ms.0);
    options.checkpoint_interval = checkpoint_interval.map(|interval| interval.0);
    Client::new(&options)
}

pub fn ask(client: &Client, call: &ClientCall) -> Answer {
    let step = match *call {
        ClientCall::Open { now_ms } => client.open(now_ms.0),
        ClientCall::Claim { waits: true, now_ms } => client.claim(now_ms.0),
        ClientCall::Claim { waits: false, now_ms } => client.try_claim(now_ms.0),
        ClientCall::Commit { handle, count, now_ms } => client.commit(handle.0, count, now_ms.0),
        ClientCall::Renew { handle, now_ms } => client.renew(handle.0, now_ms.0),
        ClientCall::Release { handle, now_ms } => client.release(handle.0, now_ms.0),
        ClientCall::ChangeLease { lease_ms, now_ms } => client.change_lease(lease_ms.0, now_ms.0),
        ClientCall::CatchUp { now_ms } => client.catch_up(now_ms.0),
        ClientCall::TellCheckpoint { ref checkpoint, now_ms } => {
            client.tell_checkpoint(checkpoint.as_deref(), now_ms.0)
        }
        ClientCall::TellEntries { ref entries, now_ms } => client.tell_entries(0, entries, now_ms.0),
        ClientCall::TellAppended { appended: true, now_ms } => client.tell_appended(now_ms.0),
        ClientCall::TellAppended { appended: false, now_ms } => client.tell_refused(now_ms.0),
        ClientCall::Claimed { handle } => {
            let ledger::ClaimedRun { claim, start, count, committed, .. } = client.claimed(handle.0)?;
            return Ok(record(format::ClaimedRun { claim: U64(claim), start: U64(start), count, committed }));
        }
        ClientCall::IsLost { handle } => return Ok(client.is_lost(handle.0)?.into()),
        ClientCall::Forget { handle } => return client.forget(handle.0).map(|()| Value::Null),
        ClientCall::Progress => return Ok(write_progress(&client.progress()?)),
        ClientCall::BlockSize => return Ok(client.block_size()?.into()),
        ClientCall::LeaseMs => return Ok(number(client.lease_ms()?)),
    };
    let Instruction { action, number, entry, milliseconds, .. } = step?;
    Ok(record(format::Instruction { action, number: U64(number), entry, milliseconds: U64(milliseconds) }))
}
