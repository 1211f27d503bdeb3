//! Structures with a `size` field: callers and libraries of different versions agree on the part
//! that both know.

use crate::error::Failure;
use std::ptr;
use std::slice;

/// A structure that begins with its size in bytes, `usize`. All its bytes may be zero, which means
/// defaults. It only grows at the end.
///
/// # Safety
///
/// Its first field is its size, it is `repr(C)`, any bytes are a value of it, and it has no bytes
/// that belong to no field.
pub(crate) unsafe trait Growing: Copy {
    /// What it is called in messages.
    const NAME: &'static str;
    /// Its size in the first version that had it: no caller has a smaller one.
    const FIRST: usize;
    /// All defaults.
    const ZERO: Self;
}

fn size_at<T: Growing>(given: *const T) -> Result<usize, Failure> {
    // SAFETY: the caller of the library gives a pointer to a structure, which begins with its size.
    let size = unsafe { ptr::read_unaligned(given.cast::<usize>()) };
    // No structure grows to a page; a greater size was never set.
    if (T::FIRST..=4096).contains(&size) {
        Ok(size)
    } else {
        Err(Failure::misuse(format_args!(
            "{}.size is {size}: set it to sizeof({})",
            T::NAME,
            T::NAME
        )))
    }
}

/// The structure that a caller gives; defaults for a null pointer. A newer caller may know more
/// fields, and must leave them zero.
///
/// # Safety
///
/// A pointer that is not null points to a structure of the size that it says.
pub(crate) unsafe fn read<T: Growing>(given: *const T) -> Result<T, Failure> {
    let mut value = T::ZERO;
    if given.is_null() {
        return Ok(value);
    }
    let size = size_at(given)?;
    // SAFETY: the structure has so many bytes.
    let bytes = unsafe { slice::from_raw_parts(given.cast::<u8>(), size) };
    let (known, more) = bytes.split_at(size.min(size_of::<T>()));
    if more.iter().any(|byte| *byte != 0) {
        return Err(Failure::misuse(format_args!(
            "{} sets fields that this version of the library does not know",
            T::NAME
        )));
    }
    // SAFETY: `value` has at least so many bytes, and any bytes are a value of it.
    unsafe {
        ptr::copy_nonoverlapping(known.as_ptr(), ptr::from_mut(&mut value).cast(), known.len());
    };
    Ok(value)
}

/// Fills the structure of a caller, as far as it knows the fields. Its size stays.
///
/// # Safety
///
/// As for [`read`], and the structure can be written to.
pub(crate) unsafe fn write<T: Growing>(given: *mut T, value: &T) -> Result<(), Failure> {
    if given.is_null() {
        return Err(Failure::null(T::NAME));
    }
    let all = size_at(given.cast_const())?;
    let size = all.min(size_of::<T>());
    let first = size_of::<usize>();
    // SAFETY: both have so many bytes; the first field of the caller's stays. What it has beyond
    // becomes zero, as are fields that are not set.
    unsafe {
        ptr::write_bytes(given.cast::<u8>().add(size), 0, all - size);
        ptr::copy_nonoverlapping(
            ptr::from_ref(value).cast::<u8>().add(first),
            given.cast::<u8>().add(first),
            size - first,
        );
    }
    Ok(())
}
