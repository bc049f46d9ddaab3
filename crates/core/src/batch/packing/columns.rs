//! Column generation (Gilmore and Gomory 1961): a simplex finds how often each pattern would be used if bins could be
//! divided, and a knapsack finds the next pattern. Numbers are fixed-point: `ONE` is 1. Rounding can cost some bins,
//! but packings and lower bounds stay valid.

use alloc::vec::Vec;

use super::best_fit;
use super::patterns::{self, Class, Patterns, effort, with_counts};
use super::subset::Subset;
use crate::base::memory::collect;
use crate::base::{Failure, gcd};

const BITS: u32 = 40;
const ONE: i64 = 1 << BITS;
/// A value below this counts as 0.
const TINY: i64 = ONE >> 20;
/// A pattern with a value above this lowers the number of bins.
const PAYS: i64 = ONE + TINY;
/// The greatest use of a column, as a fixed-point number. A pivot that needs a greater one is not made, and the search
/// ends.
const MOST_USES: i128 = 1 << 84;
/// How far the dual value of a row may be below that of the next row, whose items are smaller. Once no pattern lowers
/// the number of bins, only [`TINY`] is allowed.
const PATIENCE: i64 = ONE >> 6;
/// The most rows of the linear program if every size is a row.
const MOST_ROWS: usize = 512;
/// The most units of the capacity. With more units, [`pack`] returns no packing.
const MOST_UNITS: u64 = 1 << 18;
/// The most rows of the linear program if several sizes share a row.
const FEWER_ROWS: usize = 256;
/// The most units of a bin in the coarse knapsack. Its table is small enough to be fast.
const COARSE: usize = 1 << 10;
/// The most items. With more items, [`pack`] returns no packing.
const MOST_ITEMS: u64 = 1 << 40;
/// The most effort for the last lower bound if several sizes share a row. Its knapsack has each size by itself, so it
/// can be slow; above this effort, there is no bound.
const BOUND_EFFORT: u64 = 1 << 30;

/// Packs classes of sizes from 1 to `capacity`, and computes a lower bound on the number of bins. `known` is the number
/// of bins of another packing. Returns no packing if the bound reaches `known`, or if there are too many units or
/// items. Failures: `out-of-memory`.
pub(super) fn pack(
    classes: &[Class],
    capacity: u64,
    known: u64,
    subset: &mut Subset,
) -> Result<(Option<Patterns>, u64), Failure> {
    let unit = classes.iter().fold(0, |unit, class| gcd(unit, class.size)).max(1);
    let items = patterns::items(classes);
    if items > MOST_ITEMS || capacity / unit > MOST_UNITS {
        return Ok((None, 0));
    }
    let units = (capacity / unit) as usize;
    let many = classes.iter().filter(|class| class.count > 0).count();
    let used = (0_u32..).zip(classes).filter(|(_, class)| class.count > 0);
    let used = collect("batch_window", many, used.map(|(class, _)| class))?;
    // How many neighbouring sizes are one row of the linear program, which is no row of a batch. The items of all these
    // sizes count as items of the greatest one.
    let together = if many > MOST_ROWS { many.div_ceil(FEWER_ROWS) } else { 1 };
    let rows = many.div_ceil(together);
    let total = |row: &[u32]| row.iter().map(|&class| u64::from(classes[class as usize].count)).sum();
    let size = |class: u32| (classes[class as usize].size / unit) as usize;
    let demand: Vec<u64> = collect("batch_window", rows, used.chunks(together).map(total))?;
    let sizes = collect("batch_window", rows, used.chunks(together).map(|row| size(row[0])))?;
    // The search begins with a coarser unit, and sizes rounded up to it, which is faster and nearly as good.
    let coarse = units.div_ceil(COARSE).max(1);
    let coarse_sizes =
        collect("batch_window", rows, sizes.iter().map(|size| size.div_ceil(coarse).min(units / coarse)))?;
    let mut knapsack = Knapsack::new(sizes, units)?;
    let mut master = Master::new(&knapsack, &demand)?;
    let mut finer = None;
    if coarse > 1 {
        finer = Some(core::mem::replace(&mut knapsack, Knapsack::new(coarse_sizes, units / coarse)?));
    }
    let mut left = effort(items, 1 << 29, 1 << 15);
    let mut bound = 0;
    // The item values that gave the greatest bound so far, and this bound. The knapsack gets values between these
    // values and the duals, because the duals alone jump between extremes.
    let mut center = (collect("batch_window", rows, core::iter::repeat_n(0, rows))?, 0);
    let (mut smooth, mut patience) = (true, PATIENCE);
    loop {
        // The next column. If a row has a lower dual value than the next row, whose items are smaller, the column is an
        // exchange: an item of the next row takes the room of an item of this row. Otherwise, the column is the best
        // pattern of the knapsack, if it lowers the number of bins.
        let (cost, column) = if let Some(row) = master.inverted(patience) {
            let less = [(row, -1), (row + 1, 1)];
            (0, collect("batch_window", 2, less.into_iter().filter(|&(row, _)| (row as usize) < rows))?)
        } else {
            let Some(rest) = left.checked_sub(knapsack.effort()) else { break };
            left = rest;
            let worth = center.0.iter().zip(&master.duals);
            let worth = worth.map(|(&near, &dual)| if smooth { near + (dual.max(0) - near) / 4 } else { dual.max(0) });
            let mut worth = collect("batch_window", rows, worth)?;
            let value = knapsack.solve(&worth);
            let (least, parts) = lower_bound(demand.iter().copied().zip(worth.iter().copied()), value);
            if parts > center.1 {
                for worth in &mut worth {
                    *worth = (i128::from(*worth) * i128::from(ONE) / i128::from(value.max(1))) as i64;
                }
                center = (worth, parts);
            }
            if finer.is_none() {
                bound = least.max(bound);
                if together == 1 && bound >= known {
                    return Ok((None, bound));
                }
                if bound >= master.objective() {
                    break;
                }
            }
            let column = knapsack.content()?;
            if master.worth(&column) <= i128::from(PAYS) {
                if smooth {
                    smooth = false;
                    continue;
                }
                if patience > TINY {
                    patience = TINY;
                    continue;
                }
                let Some(finer) = finer.take() else { break };
                knapsack = finer;
                smooth = true;
                center.1 = 0;
                continue;
            }
            (ONE, column)
        };
        (smooth, patience) = (true, PATIENCE);
        match left.checked_sub(rows as u64 * rows as u64) {
            Some(rest) if master.enter(column, cost)?.is_some() => left = rest,
            _ => break,
        }
    }
    drop(knapsack);
    if together > 1 {
        bound = 0;
        let sizes = collect("batch_window", many, used.iter().map(|&class| size(class)))?;
        let mut knapsack = Knapsack::new(sizes, units)?;
        if knapsack.effort() <= BOUND_EFFORT {
            for between in [false, true] {
                let duals = (0..many).map(|place| {
                    let row = place / together;
                    let dual = |row: usize| master.duals.get(row).map_or(0, |&dual| i128::from(dual.max(0)));
                    let (great, small) = (dual(row), dual(row + 1));
                    let size = |place: usize| used.get(place).map_or(0, |&class| size(class) as i128);
                    let (most, least) = (size(row * together), size((row + 1) * together));
                    let more = if between { (great - small) * (size(place) - least) / (most - least) } else { 0 };
                    (small + more) as i64
                });
                let duals = collect("batch_window", many, duals)?;
                let value = knapsack.solve(&duals);
                let counts = used.iter().map(|&class| u64::from(classes[class as usize].count));
                bound = lower_bound(counts.zip(duals.iter().copied()), value).0.max(bound);
            }
        }
        if bound >= known {
            return Ok((None, bound));
        }
    }
    let mut best: Option<Patterns> = None;
    // Uses are rounded to whole bins in eight ways: at first down; then up from a fraction of 7/8 on, of 6/8 on, and so
    // on.
    for eighths in 0..8 {
        let mut packing = Patterns::empty(capacity);
        let mut stock = Stock::new(classes, &used)?;
        for (column, times) in master.whole(ONE / 8 * eighths + TINY)? {
            stock.expand(classes, together, column, times, &mut packing)?;
        }
        let rest = with_counts(classes, &stock.counts)?;
        let effort = effort(patterns::items(&rest), 1 << 24, 1 << 14);
        let fit = best_fit::pack(&rest, capacity, u32::MAX)?;
        let mut fill = Patterns::empty(capacity);
        subset.pack(classes, &mut stock.counts, effort, &mut fill)?;
        packing.take(if fill.count() < fit.count() { fill } else { fit }, classes)?;
        if best.as_ref().is_none_or(|best| packing.count() < best.count()) {
            best = Some(packing);
        }
    }
    Ok((best, bound))
}

/// A lower bound on the number of bins, whatever the worths are. `items` are pairs of a count and a worth. The items of
/// one bin must not be worth more than `value` together. Returns the bound in whole bins, rounded up, and in units of
/// 2^-20 bins, rounded down.
fn lower_bound(items: impl Iterator<Item = (u64, i64)>, value: u64) -> (u64, u128) {
    if value == 0 || value == u64::MAX {
        return (0, 0);
    }
    // The sum fits: there are at most 2^40 items, and a worth is below 2^63.
    let worth = items.map(|(count, worth)| u128::from(count) * worth.max(0) as u128).sum::<u128>();
    (u64::try_from(worth.div_ceil(value.into())).unwrap_or(0), (worth << 20) / u128::from(value))
}

/// The items that are not in a bin yet, while columns become bins.
struct Stock<'a> {
    /// The classes that have items, the greatest sizes first. A place is an index into this list.
    used: &'a [u32],
    /// For each place, the next place that may have items left; the place itself while it has some.
    next: Vec<u32>,
    counts: Vec<u32>,
}

impl<'a> Stock<'a> {
    fn new(classes: &[Class], used: &'a [u32]) -> Result<Self, Failure> {
        Ok(Self {
            used,
            next: collect("batch_window", used.len() + 1, 0..=used.len() as u32)?,
            counts: collect("batch_window", classes.len(), classes.iter().map(|class| class.count))?,
        })
    }

    /// The first place with items left, from `place` on; the number of places if there is none.
    fn find(&mut self, place: usize) -> usize {
        let mut at = place.min(self.used.len());
        while self.next[at] as usize != at {
            self.next[at] = self.next[self.next[at] as usize];
            at = self.next[at] as usize;
        }
        at
    }

    /// Adds `times` bins of a column, or fewer if there are no more items for them. For each item of a row, a bin gets
    /// the greatest item left that is no greater than the size of the row.
    fn expand(
        &mut self,
        classes: &[Class],
        together: usize,
        column: &Column,
        mut times: u64,
        packing: &mut Patterns,
    ) -> Result<(), Failure> {
        let most = column.iter().map(|&(_, each)| each as usize).sum();
        while times > 0 {
            // The content of the next bin: places, and how many items of each.
            let mut content: Vec<(usize, u32)> = collect("batch_window", most, [])?;
            for &(row, each) in column {
                let (mut wanted, mut place) = (each as u32, self.find(row as usize * together));
                while wanted > 0 {
                    let Some(&class) = self.used.get(place) else { return Ok(()) };
                    let known = content.iter().position(|(known, _)| *known == place);
                    let there = self.counts[class as usize] - known.map_or(0, |known| content[known].1);
                    let taken = there.min(wanted);
                    match known {
                        Some(known) => content[known].1 += taken,
                        None => content.push((place, taken)),
                    }
                    wanted -= taken;
                    place = self.find(place + 1);
                }
            }
            // The content is used for further bins while all its items are left.
            let count = |place: usize| self.counts[self.used[place] as usize];
            let alike = content.iter().map(|&(place, each)| count(place) / each).min().unwrap_or(1);
            let bins = times.min(alike.into()) as u32;
            for &(place, each) in &content {
                let count = &mut self.counts[self.used[place] as usize];
                *count -= bins * each;
                if *count == 0 {
                    self.next[place] = place as u32 + 1;
                }
            }
            packing.add(classes, content.iter().map(|&(place, each)| (self.used[place], each)), bins)?;
            times -= u64::from(bins);
        }
        Ok(())
    }
}

/// A column of the linear program: rows, and how many items of each.
type Column = Vec<(u32, i32)>;

/// A search for the content of a bin with the greatest value. Each size may be used any number of times.
struct Knapsack {
    sizes: Vec<usize>,
    /// For every capacity, the greatest value.
    values: Vec<u64>,
    /// For every capacity, the row of the item that was added last.
    last: Vec<u32>,
}

impl Knapsack {
    fn new(sizes: Vec<usize>, capacity: usize) -> Result<Self, Failure> {
        Ok(Self {
            sizes,
            values: collect("batch_window", capacity + 1, core::iter::repeat_n(0, capacity + 1))?,
            last: collect("batch_window", capacity + 1, core::iter::repeat_n(0, capacity + 1))?,
        })
    }

    fn effort(&self) -> u64 {
        self.sizes.len() as u64 * self.values.len() as u64
    }

    /// Returns the greatest value of a bin. The value of an item is the dual of its row; rows with duals of 0 or less
    /// are not used.
    fn solve(&mut self, duals: &[i64]) -> u64 {
        self.values.fill(0);
        for ((row, &size), &dual) in (0_u32..).zip(&self.sizes).zip(duals) {
            if dual <= 0 {
                continue;
            }
            // One block of `size` values at a time, so that no value is both read and written in a block.
            for start in (size..self.values.len()).step_by(size) {
                let (from, to) = self.values.split_at_mut(start);
                let to = to.iter_mut().zip(&mut self.last[start..]);
                for (&without, (value, last)) in from[start - size..].iter().zip(to) {
                    // A sum of up to 2^18 duals may overflow, so it saturates. `lower_bound` does not use a saturated
                    // value.
                    let with = without.saturating_add(dual as u64);
                    if with > *value {
                        (*value, *last) = (with, row);
                    }
                }
            }
        }
        self.values.last().copied().unwrap_or(0)
    }

    /// The content of the bin of greatest value, after `solve`.
    fn content(&self) -> Result<Column, Failure> {
        let mut column: Column = collect("batch_window", self.sizes.len(), [])?;
        let mut at = self.values.len() - 1;
        while self.values[at] > 0 {
            let row = self.last[at];
            match column.iter_mut().find(|(known, _)| *known == row) {
                Some((_, each)) => *each += 1,
                None => column.push((row, 1)),
            }
            at -= self.sizes[row as usize];
        }
        Ok(column)
    }
}

/// The simplex: as many columns as rows. No use of a column is negative, and all uses together give each row the number
/// of items that it demands.
struct Master {
    rows: usize,
    columns: Vec<Column>,
    /// How often each column is used.
    uses: Vec<i128>,
    inverse: Vec<i64>,
    duals: Vec<i64>,
    entering: Vec<i64>,
    /// The uses and duals after a pivot, until it is certain that the pivot is made.
    next_uses: Vec<i128>,
    next_duals: Vec<i64>,
}

impl Master {
    /// The first master: every column is a bin with items of one row.
    fn new(knapsack: &Knapsack, demand: &[u64]) -> Result<Self, Failure> {
        let rows = demand.len();
        let each = |row: usize| ((knapsack.values.len() - 1) / knapsack.sizes[row]) as u32;
        let each = |row: usize| u64::from(each(row)).min(demand[row]) as u32;
        let mut columns = collect("batch_window", rows, [])?;
        for row in 0..rows {
            columns.push(collect("batch_window", 1, [(row as u32, each(row) as i32)])?);
        }
        let mut inverse = collect("batch_window", rows * rows, core::iter::repeat_n(0, rows * rows))?;
        for row in 0..rows {
            inverse[row * rows + row] = ONE / i64::from(each(row));
        }
        let uses = (0..rows).map(|row| i128::from(demand[row]) * i128::from(ONE) / i128::from(each(row)));
        Ok(Self {
            rows,
            columns,
            uses: collect("batch_window", rows, uses)?,
            inverse,
            duals: collect("batch_window", rows, (0..rows).map(|row| ONE / i64::from(each(row))))?,
            entering: collect("batch_window", rows, core::iter::repeat_n(0, rows))?,
            next_uses: collect("batch_window", rows, core::iter::repeat_n(0, rows))?,
            next_duals: collect("batch_window", rows, core::iter::repeat_n(0, rows))?,
        })
    }

    /// The number of bins of the present master, rounded up.
    fn objective(&self) -> u64 {
        let used = self.columns.iter().zip(&self.uses).filter(|(column, _)| !column.is_empty());
        let sum = used.map(|(_, &uses)| uses).sum::<i128>() - i128::from(TINY);
        u64::try_from((sum + i128::from(ONE) - 1) >> BITS).unwrap_or(u64::MAX)
    }

    /// The value of a column at the present duals.
    fn worth(&self, column: &Column) -> i128 {
        column.iter().map(|&(row, each)| i128::from(self.duals[row as usize]) * i128::from(each)).sum()
    }

    /// The row whose value is furthest below that of the next row, by more than `patience`; the first of several. The
    /// value after the last row is 0.
    fn inverted(&self, patience: i64) -> Option<u32> {
        let next = self.duals[1..].iter().chain(&[0]);
        let less = (0_u32..)
            .zip(self.duals.iter().zip(next))
            .map(|(row, (&dual, &next))| (i128::from(dual) - i128::from(next), row))
            .min();
        less.filter(|(less, _)| *less < -i128::from(patience)).map(|(_, row)| row)
    }

    /// A pivot: the column takes the place of a column whose use becomes 0. `None` if no column can leave, or if
    /// numbers get too large. Then uses, duals and columns are unchanged, but the inverse may not be read any more.
    fn enter(&mut self, column: Column, cost: i64) -> Result<Option<()>, Failure> {
        let worth = self.worth(&column);
        let Self { rows, columns, uses, inverse, duals, entering, next_uses, next_duals } = self;
        let rows = *rows;
        for (to, row) in entering.iter_mut().zip(inverse.chunks_exact(rows)) {
            let sum = column.iter().map(|&(at, each)| i128::from(row[at as usize]) * i128::from(each)).sum::<i128>();
            let Some(sum) = small(sum) else { return Ok(None) };
            *to = sum;
        }
        let Some(gain) = small(i128::from(cost) - worth) else { return Ok(None) };
        // The column that leaves: the first one whose use becomes 0.
        let leaving = (0..rows)
            .filter(|&row| entering[row] > TINY)
            .min_by_key(|&row| ((uses[row] << 24) / i128::from(entering[row]), -entering[row]));
        let Some(leaving) = leaving else { return Ok(None) };
        let pivot = i128::from(entering[leaving]);
        let times = (uses[leaving] << BITS) / pivot;
        if times > MOST_USES {
            return Ok(None);
        }
        for (row, (next, &uses)) in next_uses.iter_mut().zip(&*uses).enumerate() {
            *next = if row == leaving {
                times
            } else {
                // `times` has 85 bits and the other factor 64, but only a negative product can overflow: a positive one
                // is limited by the use of this row, because the column that leaves is the first one whose use becomes
                // 0. With a negative product that large, the new use would be above `MOST_USES`, so the pivot is not
                // made.
                let Some(product) = times.checked_mul(entering[row].into()) else { return Ok(None) };
                (uses - (product >> BITS)).max(0)
            };
            if *next > MOST_USES {
                return Ok(None);
            }
        }
        // Only numbers that are not 0 are stored, because many numbers of a row are 0.
        let mut scaled = collect("batch_window", rows, core::iter::repeat_n((0, 0_i64), rows))?;
        let mut filled = 0;
        for (at, value) in inverse[leaving * rows..][..rows].iter_mut().enumerate() {
            if *value != 0 {
                let Some(quotient) = small((i128::from(*value) << BITS) / pivot) else { return Ok(None) };
                *value = quotient;
                scaled[filled] = (at, quotient);
                filled += 1;
            }
        }
        for (row, values) in inverse.chunks_exact_mut(rows).enumerate() {
            if row == leaving || entering[row] == 0 {
                continue;
            }
            let mut fits = true;
            for &(at, value) in &scaled[..filled] {
                let result = i128::from(values[at]) - times_fixed(entering[row], value);
                fits &= i128::from(result as i64) == result;
                values[at] = result as i64;
            }
            if !fits {
                return Ok(None);
            }
        }
        next_duals.copy_from_slice(duals);
        for &(at, value) in &scaled[..filled] {
            let Some(result) = small(i128::from(duals[at]) + times_fixed(gain, value)) else { return Ok(None) };
            next_duals[at] = result;
        }
        core::mem::swap(uses, next_uses);
        core::mem::swap(duals, next_duals);
        columns[leaving] = if cost == 0 { Vec::new() } else { column };
        Ok(Some(()))
    }

    /// Every pattern, and how often it is used: its use plus `more`, rounded down.
    fn whole(&self, more: i64) -> Result<Vec<(&Column, u64)>, Failure> {
        let times = |uses: i128| u64::try_from((uses + i128::from(more)) >> BITS).unwrap_or(0);
        let used = self.columns.iter().zip(&self.uses).filter(|(column, _)| !column.is_empty());
        collect("batch_window", self.rows, used.map(|(column, &uses)| (column, times(uses))))
    }
}

fn small(value: i128) -> Option<i64> {
    i64::try_from(value).ok()
}

/// The product of two numbers with a fixed point. It is below 2^87, so that several can be added without an overflow.
fn times_fixed(a: i64, b: i64) -> i128 {
    (i128::from(a) * i128::from(b) + i128::from(ONE / 2)) >> BITS
}

#[cfg(test)]
mod tests {
    use super::{Column, Knapsack, MOST_USES, Master, ONE, Vec};

    /// A master of two rows. A bin has room for 2 items of the first row, or for 4 of the second.
    fn master() -> Master {
        Master::new(&Knapsack::new(Vec::from([2, 1]), 4).unwrap(), &[6, 8]).unwrap()
    }

    fn entered(mut master: Master, row: u32) -> (bool, Master) {
        let column: Column = Vec::from([(row, 1)]);
        (master.enter(column, ONE).unwrap().is_some(), master)
    }

    #[test]
    fn a_pivot_changes_uses_duals_and_the_column() {
        let (made, after) = entered(master(), 1);
        assert!(made);
        let one = i128::from(ONE);
        assert_eq!((after.uses, after.duals), (Vec::from([3 * one, 8 * one]), Vec::from([ONE / 2, ONE])));
        assert_eq!(after.columns[1], [(1, 1)]);
    }

    #[test]
    fn a_pivot_that_is_not_made_changes_nothing_that_is_read() {
        let mut large_dual = master();
        large_dual.inverse[2] = 1 << 60;
        large_dual.duals[0] = 3 << 61;
        let mut large_inverse = master();
        large_inverse.inverse[2] = i64::MAX / 2;
        let mut large_use = master();
        large_use.uses[1] = MOST_USES;
        // The product of `times` and `entering` has 147 bits.
        let mut large_product = master();
        large_product.uses[1] = MOST_USES >> 2;
        large_product.inverse[1] = -1 << 62;
        let none_leaves = Master { inverse: Vec::from([0; 4]), ..master() };
        for before in [large_dual, large_inverse, large_use, large_product, none_leaves] {
            let (uses, duals, columns) = (before.uses.clone(), before.duals.clone(), before.columns.clone());
            let (made, after) = entered(before, 1);
            assert!(!made);
            assert_eq!((after.uses, after.duals, after.columns), (uses, duals, columns));
        }
    }
}
