//! The matrix adapter for the core on this machine.

fn main() -> std::process::ExitCode {
    matrix::run::<matrix::native::Native>(&format!("native core ({})", std::env::consts::ARCH))
}
