//! Collation of tokens of any type.

use samedeal::collate::{Padding, Side, pack, pad};
use samedeal::{Batcher, Error, FailureKind, Strategy};

#[test]
fn padding() {
    let (tokens, lengths) = (['a', 'b', 'c', 'd', 'e'], [3, 0, 2]);
    let right = pad(&tokens, &lengths, Padding::new('-')).unwrap();
    assert_eq!(String::from_iter(&right.values), "abc---de-");
    assert_eq!((right.rows, right.width), (3, 3));
    let mask = [true, true, true, false, false, false, true, true, false];
    assert_eq!(right.attention_mask, mask);
    let left = Padding::new('-').side(Side::Left).pad_to_multiple_of(2);
    let left = pad(&tokens, &lengths, left).unwrap();
    assert_eq!((String::from_iter(&left.values).as_str(), left.width), ("-abc------de", 4));
    let wide = pad(&tokens, &lengths, Padding::new('-').width(5).pad_to_multiple_of(3)).unwrap();
    assert_eq!((wide.width, wide.values.len()), (6, 18));
    // The mask marks cells without a token, so it is right even if a token equals the padding value.
    let same = pad(&[0, 0], &[1, 1], Padding::new(0).width(2)).unwrap();
    assert_eq!(same.attention_mask, [true, false, true, false]);
    let none = pad::<u8>(&[], &[], Padding::new(1)).unwrap();
    assert_eq!((none.rows, none.width, none.values.len()), (0, 0, 0));
}

#[test]
fn tokens_of_any_type() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Frame([f32; 3]);
    let (silence, frames) = (Frame([0.0; 3]), [1.0, 2.0, 3.0].map(|level| Frame([level; 3])));
    let padded = pad(&frames, &[1, 2], Padding::new(silence)).unwrap();
    assert_eq!(padded.values, [frames[0], silence, frames[1], frames[2]]);
    let packed = pack(&frames, &[1, 2], &[2], 4, silence).unwrap();
    assert_eq!(packed.values, [frames[0], frames[1], frames[2], silence]);
    assert_eq!(pad(&[(); 3], &[1, 2], Padding::new(())).unwrap().values.len(), 4);
}

#[test]
fn packing() {
    let packed = pack(&[1_i64, 2, 3, 4, 5, 6], &[2, 0, 1, 3], &[3, 3, 4], 4, -1).unwrap();
    assert_eq!((packed.rows, packed.width), (3, 4));
    assert_eq!(packed.values, [1, 2, 3, -1, -1, -1, -1, -1, 4, 5, 6, -1]);
    assert_eq!(packed.position_ids, [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0]);
    assert_eq!(packed.segment_ids, [1, 1, 3, 0, 0, 0, 0, 0, 1, 1, 1, 0]);
    assert_eq!((packed.cu_seqlens.as_slice(), packed.max_seqlen), (&[0, 2, 2, 3, 6][..], 3));
}

#[test]
fn batches_are_collated_as_planned() -> Result<(), Error> {
    let lengths = (0..500).map(|i| i * 7_919 % 90).collect::<Vec<u32>>();
    for strategy in [Strategy::Budget, Strategy::Pack] {
        let batcher = Batcher::builder(lengths.clone()).strategy(strategy).max_batch_size(4).max_length(128);
        let batcher = batcher.build()?;
        for batch in &batcher {
            let batch = batch?;
            // Every token is the number of its sample.
            let tokens = batch.samples.iter().zip(&batch.lengths);
            let tokens = tokens.flat_map(|(&sample, &length)| vec![sample; length as usize]).collect::<Vec<_>>();
            let packed = pack(&tokens, &batch.lengths, &batch.row_ends, batch.padded_length, u64::MAX)?;
            assert_eq!((packed.rows, packed.width), batch.shape());
            for (row, samples) in packed.values.chunks(packed.width.max(1)).zip(batch.rows()) {
                let held = samples.iter().flat_map(|&it| vec![it; lengths[it as usize] as usize]).collect::<Vec<_>>();
                assert_eq!(row[..held.len()], held);
                assert!(row[held.len()..].iter().all(|&cell| cell == u64::MAX));
            }
            if strategy == Strategy::Budget {
                let padded = pad(&tokens, &batch.lengths, Padding::new(u64::MAX).width(batch.padded_length))?;
                assert_eq!((padded.values, padded.width), (packed.values, packed.width));
            }
        }
    }
    Ok(())
}

#[test]
fn large_batches() {
    let (count, length) = (1 << 13, 1 << 11);
    let tokens = (0..count * length).collect::<Vec<u32>>();
    let lengths = vec![length; count as usize];
    let padded = pad(&tokens, &lengths, Padding::new(0).pad_to_multiple_of(length)).unwrap();
    assert_eq!(padded.values, tokens);
    assert!(padded.attention_mask.iter().all(|&is_token| is_token));
}

#[test]
fn what_cannot_be() {
    let failing = |result: Result<(), Error>| match result {
        Err(Error::Failure(failure)) => (failure.kind, failure.field),
        other => panic!("{other:?}"),
    };
    let padded = |lengths: &[u32], padding| failing(pad(&[1, 2, 3], lengths, padding).map(drop));
    let packed =
        |lengths: &[u32], row_ends: &[u32], width| failing(pack(&[1, 2, 3], lengths, row_ends, width, 0).map(drop));
    let is = |kind: &FailureKind, field: &str| (kind.clone(), field.to_owned());
    let (out_of_range, contradiction) = (&FailureKind::OutOfRange, &FailureKind::Contradiction);
    let any = Padding::new(0);
    for lengths in [&[][..], &[2], &[3, 1], &[4]] {
        assert_eq!(padded(lengths, any), is(contradiction, "lengths"));
        assert_eq!(packed(lengths, &[lengths.len() as u32], 4), is(contradiction, "lengths"));
    }
    assert_eq!(padded(&[3], any.width(2)), is(out_of_range, "width"));
    assert_eq!(padded(&[3], any.pad_to_multiple_of(0)), is(out_of_range, "pad_to_multiple_of"));
    assert_eq!(padded(&[3], any.pad_to_multiple_of(u32::MAX)), is(out_of_range, "lengths"));
    for lengths in [&[u32::MAX][..], &[u32::MAX; 9], &[1 << 26, 1]] {
        assert_eq!(padded(lengths, any), is(out_of_range, "lengths"));
        assert_eq!(packed(lengths, &[lengths.len() as u32], u32::MAX), is(out_of_range, "lengths"));
    }
    assert_eq!(packed(&[3], &[1], 2), is(out_of_range, "row_ends"));
    for row_ends in [&[][..], &[0], &[2], &[2, 1], &[1, 0], &[u32::MAX, 1]] {
        assert_eq!(packed(&[3], row_ends, 4), is(contradiction, "row_ends"));
    }
    let unknown = "Left".parse::<Side>().unwrap_err();
    assert_eq!((unknown.kind, unknown.allowed.as_str()), (FailureKind::UnknownName, "right, left"));
    assert_eq!(pad(&[7], &[1, 0], Padding::new(0)).unwrap().values, [7, 0]);
}
