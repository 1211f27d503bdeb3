//! Long work on an index: checking and compacting, with progress.

use crate::border::{call, free, handle, needed};
use crate::error::{ErrorHandle, Failure};
use crate::index::IndexHandle;
use crate::status::Status;
use crate::view::{View, nul_terminated};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::ptr;
use twindex::{CheckReport, Work};

/// A function that is told how far some work is, on the thread that called it (in a forked child,
/// on one of the threads that the library has there): `done` of `total`, which is 0 if it is not
/// known. It returns 0 to go on; any other value stops the work, whose call then returns
/// TWINDEX_INTERRUPTED. Null: nobody is told.
///
/// It must return: no exception, longjmp or end of the thread may leave it. It must not free the
/// handles that are at work.
pub type Progress = Option<unsafe extern "C" fn(data: *mut c_void, done: u64, total: u64) -> c_int>;

/// Does the work and tells its progress.
pub(crate) fn watch<T>(
    work: Work<'_, T>,
    progress: Progress,
    data: *mut c_void,
) -> Result<T, Failure> {
    let Some(progress) = progress else { return Ok(work.run()?) };
    Ok(work.watch(|at| {
        // SAFETY: the caller gave a function that takes what it gave with it.
        match unsafe { progress(data, at.done, at.total) } {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    })?)
}

/// What a check has found. Later versions may add fields at the end, so use it through the pointer
/// that the library gives.
#[repr(C)]
pub struct ReportStruct {
    /// The number of live documents that were read.
    pub documents: u64,
    /// The number of band entries that were read.
    pub entries: u64,
    /// The number of violated invariants: 0 for an index without damage.
    pub violation_count: u64,
    /// The first thousand of them: the number of the invariant (docs/format.md), the place, and
    /// what is wrong.
    pub violations: *const View,
    /// How many `violations` there are.
    pub violations_listed: usize,
}

/// A report with what its structure points to. The structure comes first.
#[repr(C)]
struct Report {
    fields: ReportStruct,
    _views: Vec<View>,
    _lines: Vec<Vec<u8>>,
}

impl Report {
    fn new(report: &CheckReport) -> Box<Self> {
        let lines = report.violations.iter().map(|violation| violation.to_string().into_bytes());
        let lines: Vec<Vec<u8>> = lines.map(nul_terminated).collect();
        let views: Vec<View> = lines.iter().map(|line| View::of_terminated(line)).collect();
        let fields = ReportStruct {
            documents: report.documents,
            entries: report.entries,
            violation_count: report.violation_count,
            violations: views.as_ptr(),
            violations_listed: views.len(),
        };
        Box::new(Self { fields, _views: views, _lines: lines })
    }
}

/// Checks all invariants of the file on its last commit. Reads the whole file. Damage is no error
/// here: the report lists it.
///
/// Ownership: the caller frees `*report` with twindex_report_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_index_check(
    index: Option<&IndexHandle>,
    progress: Progress,
    data: *mut c_void,
    report: Option<&mut MaybeUninit<*const ReportStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = report.ok_or_else(|| Failure::null("report"))?.write(ptr::null());
        let index = needed(index, "index")?;
        let found = index.opened(|opened| watch(opened.check(), progress, data))?;
        *place = Box::into_raw(Report::new(&found)).cast();
        Ok(())
    })
}

/// Frees a report. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_report_free(report: *const ReportStruct) {
    if !report.is_null() {
        // SAFETY: the pointer comes from `twindex_index_check`, and the caller gives it back once.
        free(Some(unsafe { Box::from_raw(report.cast_mut().cast::<Report>()) }));
    }
}

/// Merges all runs into one, drops removed documents, and returns the free space to the file
/// system. Needs the index for itself, or returns TWINDEX_BUSY: end the transaction, make no other
/// call meanwhile, and free all snapshots and what reads them: pairs, ids, clusters, and the Arrow
/// stream of pairs. It also returns TWINDEX_BUSY if another process, or an index of this one that
/// is open to be read, has a snapshot. Everything but shrinking the file is done then; call it
/// again later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_index_compact(
    index: *mut IndexHandle,
    progress: Progress,
    data: *mut c_void,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        // SAFETY: the caller promises a handle.
        let index = unsafe { handle(index, "index") }?;
        index.alone(|index| watch(index.compact(), progress, data))
    })
}
