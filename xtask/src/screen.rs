//! How the commands look: headings, quoted output, durations. Colour only on a terminal.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Bold,
    Dim,
    Green,
    Red,
}

pub(crate) fn paint(ink: Ink, text: &str) -> String {
    static COLOURED: OnceLock<bool> = OnceLock::new();
    let coloured = COLOURED
        .get_or_init(|| std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none());
    if !coloured {
        return text.to_owned();
    }
    let code = match ink {
        Ink::Bold => 1,
        Ink::Dim => 2,
        Ink::Green => 32,
        Ink::Red => 31,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

pub(crate) fn heading(text: &str) {
    println!("\n{}", paint(Ink::Bold, text));
}

pub(crate) fn line(text: &str) {
    println!("  {text}");
}

/// What another program said, set off from what we say.
pub(crate) fn quote(text: &str) {
    let bar = paint(Ink::Dim, "│");
    for line in text.trim_matches('\n').lines() {
        println!("  {bar} {line}");
    }
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
