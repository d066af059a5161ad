//! Tells the person who waits what is being built, how long it is expected to take and
//! how long it has taken. It writes to standard error past libtest's capture: a first
//! run that is silent for ten minutes looks like one that hangs.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A line of news that is kept up to date until it is finished or dropped.
pub(crate) struct Progress {
    what: String,
    started: Instant,
    stop: Option<Sender<()>>,
    ticker: Option<JoinHandle<()>>,
}

impl Progress {
    pub(crate) fn start(what: String, minutes: f64) -> Self {
        let started = Instant::now();
        say(&format!("{what} (about {minutes} min on 2 idle cores, this once)"));
        let (stop, stopped) = mpsc::channel();
        let line = what.clone();
        let terminal = io::stderr().is_terminal();
        let every = if terminal { Duration::from_secs(1) } else { Duration::from_secs(30) };
        let ticker = std::thread::spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let elapsed = in_words(started.elapsed());
                if terminal {
                    let _ = write!(io::stderr(), "\r  {line}: {elapsed} so far ");
                    let _ = io::stderr().flush();
                } else {
                    say(&format!("{line}: {elapsed} so far"));
                }
            }
            if terminal {
                let _ = write!(io::stderr(), "\r\x1b[K");
            }
        });
        Self { what, started, stop: Some(stop), ticker: Some(ticker) }
    }

    pub(crate) fn done(mut self) {
        self.hush();
        say(&format!("{}: done in {}", self.what, in_words(self.started.elapsed())));
    }

    fn hush(&mut self) {
        drop(self.stop.take());
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hush();
    }
}

/// One line on standard error, visible also inside a captured test.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "  {line}");
}

fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}
