//! What the processes of one run tell each other of what their addresses plan.
//!
//! Each provider block has a process of its own, so that two aliases of one cluster do not see each
//! other's plans. Their common parent is the run. Each writes what it plans into a file of its own,
//! in a folder that is named after the parent and nobody else may enter, and reads the files of
//! the others; it writes before it reads, so that of two the later one always knows. There is
//! nothing in it but uids, our own ids and intents.
//!
//! One run plans, applies and may plan again, each time in new processes, whose plans are not those
//! of the former. So the word of a process that has ended is [`Said::Before`] for those that were
//! not there when it was said; a lock that ends with its holder tells whether it has. Where the folder cannot be
//! used, each is alone, as if there were no others. Nothing of this reaches another machine.

pub(super) mod ground;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::claims::Intent;

const PREFIX: &str = "k8sconnect-kin-";

/// How long what nobody uses any more is left lying: no run starts its processes that far apart.
const STALE: Duration = Duration::from_secs(600);

/// What an address plans for an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Word {
    /// Stands for the way to the cluster: a restored backup has the uids of its original.
    pub(super) home: u64,
    pub(super) uid: String,
    pub(super) id: Option<String>,
    /// The id that the object bore.
    pub(super) mark: Option<String>,
    pub(super) intent: Intent,
}

/// When a word was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// In the plan, or in the apply, that this process takes part in.
    Meanwhile,
    /// By a process that ended before this one began, in that plan or in another one.
    Before,
}

/// What was heard, and of which process.
pub(super) type Heard = (String, Said, Word);

#[derive(Serialize, Deserialize)]
struct Line {
    at: u64,
    #[serde(flatten)]
    word: Word,
}

/// The way to the other processes.
pub(crate) struct Kin {
    folder: PathBuf,
    name: OsString,
    born: u64,
    /// Opened for the first word.
    own: Option<File>,
    heard: BTreeMap<OsString, u64>,
}

impl Kin {
    /// The processes that have the same parent, if that can be told.
    pub(crate) fn of_this_run() -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("{PREFIX}{}", ground::run()?));
        Some(Self::named(folder, &std::process::id().to_string()))
    }

    fn named(folder: PathBuf, name: &str) -> Self {
        Self { folder, name: name.into(), born: now(), own: None, heard: BTreeMap::new() }
    }

    /// Tells the others, and hears what they have said since the last time, by process.
    pub(super) fn exchange(&mut self, word: Word) -> Vec<Heard> {
        self.tell(word).and_then(|()| self.hear()).unwrap_or_else(|error| {
            tracing::debug!(%error, "the other processes of this run cannot be heard");
            Vec::new()
        })
    }

    fn tell(&mut self, word: Word) -> io::Result<()> {
        if self.own.is_none() {
            self.own = Some(self.enter()?);
        }
        let mut line = serde_json::to_vec(&Line { at: now(), word })?;
        line.push(b'\n');
        self.own.as_mut().map_or(Ok(()), |own| own.write_all(&line))
    }

    /// Makes a file of its own, locked for as long as this process lives.
    fn enter(&self) -> io::Result<File> {
        sweep(self.folder.parent().unwrap_or(Path::new("/")));
        let own = ground::own_file(&self.folder, &self.folder.join(&self.name))?;
        // Whoever looks whether it is locked holds it for a moment.
        own.lock()?;
        own.set_len(0)?;
        Ok(own)
    }

    fn hear(&mut self) -> io::Result<Vec<Heard>> {
        let mut words = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            if name == self.name {
                continue;
            }
            let mut file = File::open(self.folder.join(&name))?;
            let from = self.heard.entry(name.clone()).or_default();
            let alive = is_alive(&file);
            if file.metadata()?.len() < *from {
                // A process of the same number.
                *from = 0;
            }
            file.seek(SeekFrom::Start(*from))?;
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            // What is still being written is heard the next time.
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            *from += whole as u64;
            let lines = text[..whole].lines().filter_map(|line| serde_json::from_str(line).ok());
            let process = name.to_string_lossy();
            words.extend(lines.map(|Line { at, word }| {
                let meanwhile = alive || at >= self.born;
                let said = if meanwhile { Said::Meanwhile } else { Said::Before };
                (process.clone().into_owned(), said, word)
            }));
        }
        Ok(words)
    }
}

fn is_alive(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Removes what former runs left. A process cannot do so at its own end: others may still ask.
fn sweep(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        // One that was just made is still empty, and about to be used.
        if !is_old(&entry) {
            continue;
        }
        for file in fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            if is_old(&file) && File::open(file.path()).is_ok_and(|file| !is_alive(&file)) {
                let _ = fs::remove_file(file.path());
            }
        }
        // Fails as long as there is something in it.
        let _ = fs::remove_dir(entry.path());
    }
}

fn is_old(entry: &fs::DirEntry) -> bool {
    let modified = entry.metadata().and_then(|it| it.modified()).ok();
    modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > STALE)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::DirBuilder;
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};

    use super::*;

    fn word(uid: &str) -> Word {
        Word { home: 1, uid: uid.to_owned(), id: None, mark: None, intent: Intent::Make }
    }

    fn said(process: &str, uid: &str) -> Heard {
        (process.to_owned(), Said::Meanwhile, word(uid))
    }

    #[test]
    fn each_hears_what_the_others_say_once_and_never_itself() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("run");
        let [mut a, mut b] = ["a", "b"].map(|name| Kin::named(at.clone(), name));
        assert_eq!(a.exchange(word("x")), []);
        assert_eq!(b.exchange(word("y")), [said("a", "x")]);
        assert_eq!(b.exchange(word("z")), []);
        assert_eq!(a.exchange(word("x")), [said("b", "y"), said("b", "z")]);
        assert_eq!(fs::metadata(&at).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(at.join("a")).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_word_of_one_that_ended_was_said_meanwhile_for_those_who_were_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("run");
        let mut witness = Kin::named(at.clone(), "witness");
        let mut gone = Kin::named(at.clone(), "gone");
        gone.exchange(word("x"));
        drop(gone);
        let mut late = Kin::named(at.clone(), "late");
        let before = ("gone".to_owned(), Said::Before, word("x"));
        assert_eq!(late.exchange(word("y")), [before], "that may have been another plan");
        let mut heard = witness.exchange(word("z"));
        heard.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(heard, [said("gone", "x"), said("late", "y")]);
    }

    #[test]
    fn a_folder_that_others_may_enter_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("run");
        DirBuilder::new().mode(0o755).create(&at).unwrap();
        let [mut a, mut b] = ["a", "b"].map(|name| Kin::named(at.clone(), name));
        a.exchange(word("x"));
        assert_eq!(b.exchange(word("y")), []);
    }

    #[test]
    fn what_former_runs_left_is_swept_and_what_is_in_use_is_not() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |run: &str| temporary.path().join(format!("{PREFIX}{run}"));
        let mut used = Kin::named(at("1"), "used");
        used.exchange(word("x"));
        Kin::named(at("2"), "left").exchange(word("x"));
        DirBuilder::new().create(at("3")).unwrap();
        for left in [at("1").join("used"), at("1"), at("2").join("left"), at("2")] {
            let old = SystemTime::now() - 2 * STALE;
            File::open(left).unwrap().set_modified(old).unwrap();
        }
        sweep(temporary.path());
        assert!(at("1").join("used").exists() && !at("2").exists() && at("3").exists());
    }
}
