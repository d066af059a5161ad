//! What lately became of a text.
//!
//! The same text is handed over again and again: a body when it is checked, when its object is
//! read and when it is planned; a kubeconfig for every object. What was made of it once is handed
//! out again, for as long as few others came in between. Nobody can tell, but by the time it took.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// More texts than are worked on at once.
const MOST: usize = 32;

/// All of them together. What is made of a text is several times its size.
const MOST_BYTES: usize = 512 * 1024;

/// The latest texts, each with what was made of it.
#[derive(Debug)]
pub struct Recent<T>(Mutex<VecDeque<(Box<str>, Arc<T>)>>);

impl<T> Recent<T> {
    pub const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// What was made of the text, or is made of it now. What fails is not kept.
    pub fn of<E>(&self, text: &str, make: impl FnOnce(&str) -> Result<T, E>) -> Result<Arc<T>, E> {
        if let Some(found) = self.find(text) {
            return Ok(found);
        }
        // Not under the lock: two that make the same at once do no harm, two that wait do.
        let made = Arc::new(make(text)?);
        if text.len() <= MOST_BYTES {
            self.keep(text, &made);
        }
        Ok(made)
    }

    fn find(&self, text: &str) -> Option<Arc<T>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().find(|(known, _)| **known == *text).map(|(_, made)| made.clone())
    }

    fn keep(&self, text: &str, made: &Arc<T>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((text.into(), made.clone()));
        let mut bytes: usize = kept.iter().map(|(text, _)| text.len()).sum();
        while kept.len() > MOST || bytes > MOST_BYTES {
            let Some((oldest, _)) = kept.pop_front() else { break };
            bytes -= oldest.len();
        }
    }
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn makes_the_same_once_and_a_failure_again() {
        let (recent, made) = (Recent::new(), Cell::new(0));
        let length = |text: &str| {
            made.set(made.get() + 1);
            if text.is_empty() { Err(()) } else { Ok(text.len()) }
        };
        assert_eq!(recent.of("abc", length), Ok(Arc::new(3)));
        assert_eq!(recent.of("abc", length), Ok(Arc::new(3)));
        assert_eq!(made.get(), 1);
        assert_eq!((recent.of("", length), recent.of("", length)), (Err(()), Err(())));
        assert_eq!(made.get(), 3);
    }

    #[test]
    fn holds_few_and_nothing_large() {
        let recent = Recent::new();
        let keep = |text: &str| recent.of(text, |text| Ok::<_, ()>(text.len())).unwrap();
        for n in 0..MOST + 10 {
            keep(&n.to_string());
        }
        assert!(recent.find("0").is_none() && recent.find("41").is_some());
        assert_eq!(recent.0.lock().unwrap().len(), MOST);
        keep(&"x".repeat(MOST_BYTES));
        assert_eq!(recent.0.lock().unwrap().len(), 1, "it fills the room alone");
        keep(&"y".repeat(MOST_BYTES + 1));
        assert_eq!(recent.0.lock().unwrap()[0].0.len(), MOST_BYTES, "what is larger is not kept");
    }
}
