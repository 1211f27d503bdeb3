//! What a call returns.

use twindex::ErrorKind;

/// What a call returns: TWINDEX_OK, or the class of its error.
pub type Status = i32;

/// The call did what it is for.
pub const TWINDEX_OK: Status = 0;
/// No index exists at the path. Create it, or choose another path.
pub const TWINDEX_NOT_FOUND: Status = 1;
/// A file already exists at the path. Open it, or choose another path.
pub const TWINDEX_ALREADY_EXISTS: Status = 2;
/// An argument, a setting or a document is not valid. The same input gives the same error again.
pub const TWINDEX_INVALID_INPUT: Status = 3;
/// The call needs an index with other settings.
pub const TWINDEX_MISMATCH: Status = 4;
/// Another process, transaction, snapshot or call is in the way. End it or wait, and try again.
pub const TWINDEX_BUSY: Status = 5;
/// The path leads to another file than the one that is open. Free the index and open it
/// again at its new path.
pub const TWINDEX_MOVED: Status = 6;
/// A progress function stopped the work. The message says what was done and what was left.
pub const TWINDEX_INTERRUPTED: Status = 7;
/// The file must be repaired before all of it can be used.
pub const TWINDEX_DAMAGED: Status = 8;
/// This version cannot read the file: it is not an index, or its format is newer.
pub const TWINDEX_UNSUPPORTED: Status = 9;
/// A limit is reached: the index has no free numbers, or there is too little memory.
pub const TWINDEX_FULL: Status = 10;
/// The operating system or the storage failed. Free the index and open it again: it is then at its
/// last commit.
pub const TWINDEX_IO: Status = 11;
/// The call is a mistake of the program: a null pointer, a length or a `size` that cannot be, or an
/// argument that is not UTF-8.
pub const TWINDEX_MISUSE: Status = 20;
/// The index was closed, the transaction has ended, the pairs were taken over, or an earlier call
/// with the handle was TWINDEX_DEFECT.
pub const TWINDEX_CLOSED: Status = 21;
/// The library failed by a defect of its own. Nothing says that the file is damaged. Please report
/// the message.
pub const TWINDEX_DEFECT: Status = 22;

/// The status for an error of the library.
pub(crate) fn of_kind(kind: ErrorKind) -> Status {
    match kind {
        ErrorKind::NotFound => TWINDEX_NOT_FOUND,
        ErrorKind::AlreadyExists => TWINDEX_ALREADY_EXISTS,
        ErrorKind::InvalidInput => TWINDEX_INVALID_INPUT,
        ErrorKind::Mismatch => TWINDEX_MISMATCH,
        ErrorKind::Busy => TWINDEX_BUSY,
        ErrorKind::Moved => TWINDEX_MOVED,
        ErrorKind::Interrupted => TWINDEX_INTERRUPTED,
        ErrorKind::Damaged => TWINDEX_DAMAGED,
        ErrorKind::Unsupported => TWINDEX_UNSUPPORTED,
        ErrorKind::Full => TWINDEX_FULL,
        _ => TWINDEX_IO,
    }
}
