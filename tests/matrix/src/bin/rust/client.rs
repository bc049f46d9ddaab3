//! Clients of ledgers of the Rust host.

use matrix::format::{self, ClientCall, U64, record};
use samedeal::Error;
use samedeal::ledger::{self, Client, ClientOptions, Instruction};
use serde_json::Value;

use super::{Answer, number, write_progress};

pub fn client(given: &format::LedgerClient) -> Result<Client, Error> {
    let format::LedgerClient { state, reader, session, block, lease, checkpoint_interval } = given;
    let mut options = ClientOptions::new(state, *reader, session.0);
    options.block = *block;
    options.lease = lease.map(|lease| lease.0);
    options.checkpoint_interval = checkpoint_interval.map(|interval| interval.0);
    Client::new(&options)
}

pub fn ask(client: &Client, call: &ClientCall) -> Answer {
    let step = match *call {
        ClientCall::Open { now } => client.open(now.0),
        ClientCall::Claim { waits: true, now } => client.claim(now.0),
        ClientCall::Claim { waits: false, now } => client.try_claim(now.0),
        ClientCall::Commit { handle, count, now } => client.commit(handle.0, count, now.0),
        ClientCall::Renew { handle, now } => client.renew(handle.0, now.0),
        ClientCall::Release { handle, now } => client.release(handle.0, now.0),
        ClientCall::ChangeLease { milliseconds, now } => client.change_lease(milliseconds.0, now.0),
        ClientCall::CatchUp { now } => client.catch_up(now.0),
        ClientCall::TellCheckpoint { ref checkpoint, now } => client.tell_checkpoint(checkpoint.as_deref(), now.0),
        ClientCall::TellEntries { ref entries, now } => client.tell_entries(0, entries, now.0),
        ClientCall::TellAppended { appended: true, now } => client.tell_appended(now.0),
        ClientCall::TellAppended { appended: false, now } => client.tell_refused(now.0),
        ClientCall::Claimed { handle } => {
            let ledger::ClaimedRun { claim, start, count, committed, .. } = client.claimed(handle.0)?;
            return Ok(record(format::ClaimedRun { claim: U64(claim), start: U64(start), count, committed }));
        }
        ClientCall::IsLost { handle } => return Ok(client.is_lost(handle.0)?.into()),
        ClientCall::Forget { handle } => return client.forget(handle.0).map(|()| Value::Null),
        ClientCall::Progress => return Ok(write_progress(&client.progress()?)),
        ClientCall::Block => return Ok(client.block()?.into()),
        ClientCall::Lease => return Ok(number(client.lease()?)),
    };
    let Instruction { action, number, entry, milliseconds, .. } = step?;
    Ok(record(format::Instruction { action, number: U64(number), entry, milliseconds: U64(milliseconds) }))
}
