use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let mut sampler = Sampler::builder(10_000_000).seed(42).rank(3).world_size(8).build()?;
    for epoch in 0..2 {
        sampler.set_epoch(epoch)?;
        let first: Vec<u64> = sampler.batch(0, 32, true)?;
        println!("{first:?}");
    }
    println!("{:?} {:?}", sampler.batch::<u64>(31_000, 32, false)?, sampler.locate(1234, 32)?);
    Ok(())
}
