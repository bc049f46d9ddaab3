use samedeal::{BatchSize, Sampler};

fn main() -> Result<(), samedeal::Error> {
    // Rank 3 of 8, over ten million samples.
    let mut sampler = Sampler::builder(10_000_000).seed(42).rank(3).world_size(8).build()?;
    let batch: Vec<u64> = sampler.batch(31_000, 32)?;
    println!("batch 31,000 begins with {:?}", &batch[..4]);

    // Which rank sees sample 1234, and in which batch?
    let place = sampler.locate(1234, 32)?.expect("no sample is dropped");
    println!("sample 1234: rank {}, batch {}", place.rank, place.batch);

    // 8 ranks did 31,000 batches. 6 ranks continue.
    let state = sampler.state(31_000 * 32)?;
    let mut rest = Sampler::builder(10_000_000).seed(42).rank(0).world_size(6).build()?;
    rest.resume(&state)?;
    println!("{} samples are done, {} are left for each of 6 ranks", rest.consumed(), rest.num_samples());

    // The next epoch has another order, without any preparation.
    sampler.set_epoch(1)?;
    for batch in sampler.batches(BatchSize::full(32))?.take(1) {
        let batch: Vec<u64> = batch?;
        println!("epoch 1 begins with {:?}", &batch[..4]);
    }
    Ok(())
}
