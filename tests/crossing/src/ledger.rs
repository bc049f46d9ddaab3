//! The readers of a ledger whose log is in a file.

use std::time::Duration;

use samedeal::Sampler;
use samedeal::ledger::{Claim, FileLog, Ledger};
use serde_json::json;

use crate::document::Job;
use crate::{Failed, replay, tell};

pub struct Readers {
    job: Job,
    ledgers: Vec<Ledger>,
    /// The claim of each reader.
    claims: Vec<Option<Claim>>,
    turn: usize,
}

impl Readers {
    pub fn open(job: Job) -> Result<Self, Failed> {
        let sampler = Sampler::from_recipe(&job.case.recipe).epoch(job.case.epoch.parse()?).build()?;
        let open = |&reader: &u32| -> Result<Ledger, Failed> {
            let builder =
                Ledger::builder(reader).block_size(job.case.batch_size).lease(Duration::from_millis(job.lease));
            Ok(builder.open(&sampler, FileLog::open(&job.log)?)?)
        };
        let ledgers = job.readers.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { claims: ledgers.iter().map(|_| None).collect(), ledgers, job, turn: 0 })
    }

    /// The next reader claims, or commits a part of its claim.
    pub fn step(&mut self) -> Result<(), Failed> {
        let at = self.turn % self.ledgers.len();
        self.turn += 1;
        if let Some(mut claim) = self.claims[at].take() {
            let left = claim.count() - claim.committed();
            let part = left.div_ceil(2);
            claim.commit(part)?;
            self.claims[at] = (part < left).then_some(claim);
        } else {
            self.claims[at] = self.claim(at)?;
        }
        Ok(())
    }

    fn claim(&self, at: usize) -> Result<Option<Claim>, Failed> {
        let ledger = &self.ledgers[at];
        let Some(claim) = ledger.claim()? else { return Ok(None) };
        let read: Vec<u64> = claim.samples(..)?;
        tell(&json!({"job": self.job.id, "reader": ledger.reader(), "start": claim.start(), "read": read}))?;
        Ok(Some(claim))
    }

    /// Claims and commits in turn until every position is committed, and then replays the log by this host.
    pub fn finish(mut self) -> Result<(), Failed> {
        loop {
            let at = self.turn % self.ledgers.len();
            self.turn += 1;
            match self.claim(at)? {
                Some(mut claim) => claim.commit_rest()?,
                None => return Ok(tell(&replay::replay(&self.job)?)?),
            }
        }
    }
}
