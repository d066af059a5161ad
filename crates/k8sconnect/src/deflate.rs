//! Bytes in less room: what is kept of an object repeats itself.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// Higher levels take longer and save next to nothing.
const LEVEL: u8 = 1;

/// Far more than an object can be, and too little to harm.
const MOST: usize = 64 << 20;

pub(crate) fn deflated(plain: &[u8]) -> Vec<u8> {
    compress_to_vec(plain, LEVEL)
}

/// Nothing where they are damaged.
pub(crate) fn inflated(packed: &[u8]) -> Option<Vec<u8>> {
    decompress_to_vec_with_limit(packed, MOST).ok()
}
