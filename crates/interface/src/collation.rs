use alloc::string::String;
use alloc::vec::Vec;

use samedeal_core::batch::collate as core_;

use crate::Component;
use crate::bindings::{collation, types};

impl collation::Guest for Component {
    fn pad(
        lengths: Vec<u32>,
        width: Option<u32>,
        pad_to_multiple_of: u32,
        side: String,
    ) -> Result<collation::Padded, types::Failure> {
        let side = core_::Side::from_name(&side)?;
        let core_::Padded { width, token_indices } = core_::pad(&lengths, width, pad_to_multiple_of, side)?;
        Ok(collation::Padded { width, token_indices })
    }

    fn pack(lengths: Vec<u32>, row_ends: Vec<u32>, width: u32) -> Result<collation::Packed, types::Failure> {
        let core_::Packed { token_indices, position_ids, segment_ids, cu_seqlens, max_seqlen } =
            core_::pack(&lengths, &row_ends, width)?;
        Ok(collation::Packed { token_indices, position_ids, segment_ids, cu_seqlens, max_seqlen })
    }
}
