use std::time::Duration;

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use crate::write::output::is_quiet;

/// A progress bar on standard error, if this is a terminal. The bar vanishes at the end.
pub fn bar(what: &'static str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    shown(ProgressBar::new(length).with_style(style).with_message(what))
}

/// A spinner, for work of unknown length.
pub fn spinner(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    shown(ProgressBar::new_spinner().with_style(style).with_message(what))
}

/// Shows the progress at once, not only after the first step: an order that is made as a whole takes seconds before it.
fn shown(progress: ProgressBar) -> ProgressBar {
    if is_quiet() {
        return ProgressBar::hidden();
    }
    let progress = progress.with_finish(ProgressFinish::AndClear);
    progress.enable_steady_tick(Duration::from_millis(100));
    progress
}
