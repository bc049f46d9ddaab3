//! Runs of rows of a Parquet column.

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;

/// How many rows are decoded at a time.
const ROWS: usize = 1 << 12;

/// A run of rows. Rows without a value have no entry in `values`.
pub struct Decoded<T: DataType> {
    /// The definition level of each entry; empty if every row has a value.
    pub levels: Vec<i16>,
    /// The repetition level of each entry, 0 where a row begins; empty if the column has no lists.
    pub repetitions: Vec<i16>,
    pub values: Vec<T::T>,
}

impl<T: DataType> Default for Decoded<T> {
    fn default() -> Self {
        Self { levels: Vec::new(), repetitions: Vec::new(), values: Vec::new() }
    }
}

impl<T: DataType> Decoded<T> {
    /// Reads the next rows of a column, and returns how many. `nullable` and `repeated` are the column's greatest
    /// definition and repetition levels.
    pub fn decode(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        nullable: i16,
        repeated: i16,
    ) -> Result<usize, ParquetError> {
        self.levels.clear();
        self.repetitions.clear();
        self.values.clear();
        let levels = (nullable > 0).then_some(&mut self.levels);
        let repetitions = (repeated > 0).then_some(&mut self.repetitions);
        Ok(reader.read_records(ROWS, levels, repetitions, &mut self.values)?.0)
    }

    pub fn is_null(&self, row: usize, nullable: i16) -> bool {
        nullable > 0 && self.levels[row] < nullable
    }
}
