//! What crosses the border: pointers become references and texts, and panics stay inside.

use crate::error::{ErrorHandle, Failure};
use crate::status::{Status, TWINDEX_OK};
use crate::view::TWINDEX_NUL;
use std::any::Any;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes a result, if the caller wants it.
pub(crate) fn give<T>(out: Option<&mut MaybeUninit<T>>, value: T) {
    if let Some(out) = out {
        out.write(value);
    }
}

/// The place for a handle, which is null unless the call succeeds.
pub(crate) fn place<'a, T>(
    out: Option<&'a mut MaybeUninit<Option<Box<T>>>>,
    argument: &str,
) -> Result<&'a mut Option<Box<T>>, Failure> {
    out.map(|out| out.write(None)).ok_or_else(|| Failure::null(argument))
}

/// A reference that must be there.
pub(crate) fn needed<'a, T>(handle: Option<&'a T>, argument: &str) -> Result<&'a T, Failure> {
    handle.ok_or_else(|| Failure::null(argument))
}

/// The bytes at a pointer.
///
/// # Safety
///
/// A pointer that is not null points to so many bytes, or with `TWINDEX_NUL` to bytes up to a NUL.
/// They stay unchanged while the result is used.
pub(crate) unsafe fn bytes<'a>(
    argument: &str,
    data: *const c_char,
    length: usize,
) -> Result<&'a [u8], Failure> {
    match length {
        0 => Ok(&[]),
        _ if data.is_null() => Err(Failure::null(argument)),
        // SAFETY: the caller promises a NUL.
        TWINDEX_NUL => Ok(unsafe { CStr::from_ptr(data) }.to_bytes()),
        _ if isize::try_from(length).is_err() => {
            Err(Failure::misuse(format_args!("{argument}: {length} bytes is no possible length")))
        }
        // SAFETY: the caller promises so many bytes.
        _ => Ok(unsafe { slice::from_raw_parts(data.cast(), length) }),
    }
}

/// The text at a pointer.
///
/// # Safety
///
/// That of [`bytes`].
pub(crate) unsafe fn text<'a>(
    argument: &str,
    data: *const c_char,
    length: usize,
) -> Result<&'a str, Failure> {
    // SAFETY: the caller promises the same.
    let bytes = unsafe { bytes(argument, data, length) }?;
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to() + 1;
        Failure::misuse(format_args!("{argument}: not valid UTF-8 at byte {at}"))
    })
}

/// The path at a pointer: any bytes on Unix, UTF-8 elsewhere.
///
/// # Safety
///
/// That of [`bytes`].
pub(crate) unsafe fn path<'a>(
    argument: &str,
    data: *const c_char,
    length: usize,
) -> Result<&'a Path, Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        // SAFETY: the caller promises the same.
        let bytes = unsafe { bytes(argument, data, length) }?;
        if bytes.is_empty() || bytes.contains(&0) {
            let what = if bytes.is_empty() { "is empty" } else { "has a NUL" };
            return Err(Failure::misuse(format_args!("{argument} {what}: expected a path")));
        }
        Ok(Path::new(std::ffi::OsStr::from_bytes(bytes)))
    }
    #[cfg(not(unix))]
    // SAFETY: the caller promises the same.
    unsafe { text(argument, data, length) }.map(Path::new)
}

/// Keeps panics from writing to standard error. The library has a standard library of its own, so
/// the hook is not the program's.
fn silence_panics() {
    // No `Once`: a forked child waits for ever if a thread of its parent was in the middle of it.
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        set_hook(Box::new(|_| {}));
    }
}

/// Does work, whose panics stop here.
pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    silence_panics();
    let caught = || catch_unwind(AssertUnwindSafe(work));
    on_threads(caught).map_err(|panic| Failure::defect(reason(&*panic)))
}

/// What a panic says.
pub(crate) fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no reason given")
}

/// Does work on threads of this process, also if it was forked.
fn on_threads<T>(work: impl FnOnce() -> T) -> T {
    struct Moved<T>(T);
    // SAFETY: the thread of the caller waits until the work is done, so it is done by one thread at
    // a time. What it uses has no thread of its own: handles may change threads between calls.
    unsafe impl<T> Send for Moved<T> {}
    impl<T> Moved<T> {
        // A method takes the whole value into the closure, not its field.
        fn get(self) -> T {
            self.0
        }
    }
    let work = Moved(work);
    twindex::with_threads(move || Moved(work.get()())).get()
}

/// Frees a handle.
pub(crate) fn free<T>(handle: Option<Box<T>>) {
    // There is nobody to tell of a defect.
    let _ = contained(|| drop(handle));
}

/// The handle at a pointer, which must be there.
///
/// # Safety
///
/// A pointer that is not null points to a handle, which is not freed meanwhile.
pub(crate) unsafe fn handle<'a, T>(handle: *mut T, argument: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller promises a handle. What changes in it is behind a lock.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::null(argument))
}

/// A flag, which is 0 or 1.
pub(crate) fn flag(argument: &str, value: i32) -> Result<bool, Failure> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::misuse(format_args!("{argument} is {value}: expected 0 or 1"))),
    }
}

/// Does the work of a call. Errors and panics become its status and fill the error, to which
/// nothing else refers meanwhile: a progress function may give it to other calls.
pub(crate) fn call(error: *mut ErrorHandle, work: impl FnOnce() -> Result<(), Failure>) -> Status {
    let failure = match contained(work) {
        Ok(Ok(())) => return TWINDEX_OK,
        Ok(Err(failure)) | Err(failure) => failure,
    };
    let status = failure.status;
    // SAFETY: the caller gives an error of its own, or null.
    if let Some(error) = unsafe { error.as_mut() } {
        error.set(failure);
    }
    status
}
