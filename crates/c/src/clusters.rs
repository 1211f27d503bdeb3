//! Clusters of similar documents.

use crate::border::{call, free, handle, needed, place};
use crate::care::{Progress, watch};
use crate::error::{ErrorHandle, Failure};
use crate::settings::{choice, number};
use crate::snapshot::SnapshotHandle;
use crate::status::Status;
use crate::structs::{self, Growing};
use crate::view::{View, nul_terminated};
use self_cell::self_cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Arc, Mutex, TryLockError};
use twindex::{Clusters, Keep, Linkage, Snapshot};

/// Every member is similar to the representative of its cluster.
pub const TWINDEX_LINKAGE_REPRESENTATIVE: u32 = 1;
/// Clusters are the connected parts of the graph of similar pairs.
pub const TWINDEX_LINKAGE_CONNECTED: u32 = 2;
/// The representative is the document that was inserted first.
pub const TWINDEX_KEEP_FIRST: u32 = 1;
/// The representative is the document with the longest text.
pub const TWINDEX_KEEP_LONGEST: u32 = 2;
/// The representative is the document with the smallest id, in byte order.
pub const TWINDEX_KEEP_ID: u32 = 3;

/// Which clusters to look for. Set all bytes to zero, then `size`; a field that is zero has its
/// default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ClustersOptions {
    /// sizeof(twindex_clusters_options).
    pub size: usize,
    /// The least similarity: above 0, at most 1. Default: that of the index.
    pub threshold: f64,
    /// TWINDEX_LINKAGE_REPRESENTATIVE, the default, or TWINDEX_LINKAGE_CONNECTED.
    pub linkage: u32,
    /// Which document represents a cluster: TWINDEX_KEEP_FIRST, the default, or another.
    pub keep: u32,
    /// TWINDEX_YES: uses estimates even if the index stores texts.
    pub estimate: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: the size is first, and the four fields of 4 bytes fill whole words.
unsafe impl Growing for ClustersOptions {
    const NAME: &'static str = "twindex_clusters_options";
    const FIRST: usize = 32;
    const ZERO: Self = Self {
        size: size_of::<Self>(),
        threshold: 0.0,
        linkage: 0,
        keep: 0,
        estimate: 0,
        reserved: 0,
    };
}

impl ClustersOptions {
    fn linkage(&self) -> Result<Linkage, Failure> {
        if self.reserved != 0 {
            let reserved = self.reserved;
            return Err(Failure::invalid(format_args!("reserved is {reserved}: expected 0")));
        }
        match self.linkage {
            0 | TWINDEX_LINKAGE_REPRESENTATIVE => Ok(Linkage::Representative),
            TWINDEX_LINKAGE_CONNECTED => Ok(Linkage::Connected),
            other => Err(Failure::invalid(format_args!(
                "linkage {other}: expected 0 or one of TWINDEX_LINKAGE_..."
            ))),
        }
    }

    fn keep(&self) -> Result<Keep, Failure> {
        match self.keep {
            0 | TWINDEX_KEEP_FIRST => Ok(Keep::First),
            TWINDEX_KEEP_LONGEST => Ok(Keep::Longest),
            TWINDEX_KEEP_ID => Ok(Keep::Id),
            other => Err(Failure::invalid(format_args!(
                "keep {other}: expected 0 or one of TWINDEX_KEEP_..."
            ))),
        }
    }
}

/// A cluster of at least two similar documents. Later versions may add fields at the end, so use it
/// through the pointer that the library gives.
#[repr(C)]
pub struct ClusterStruct {
    /// The id of the document that represents the cluster.
    pub representative: View,
    /// The ids of all members in the order of insertion, the representative included.
    pub members: *const View,
    /// How many `members` there are.
    pub member_count: usize,
}

self_cell!(
    struct ClustersCell {
        owner: Arc<Snapshot>,
        #[not_covariant]
        dependent: Clusters,
    }
);

/// The clusters of a snapshot, the largest first.
///
/// Threads: one at a time. A call meanwhile returns TWINDEX_BUSY.
pub struct ClustersHandle {
    count: usize,
    reading: Mutex<Reading>,
}

struct Reading {
    clusters: ClustersCell,
    current: Option<ClusterStruct>,
    views: Vec<View>,
    /// The representative, then the members.
    ids: Vec<Vec<u8>>,
}

impl Reading {
    /// Reads the ids of a cluster; `None` past the last one.
    fn read(&mut self, place: usize) -> twindex::Result<Option<&ClusterStruct>> {
        let ids = self.clusters.with_dependent(|_, clusters| {
            let Some(cluster) = clusters.get(place) else { return Ok(None) };
            let ids = std::iter::once(cluster.representative()).chain(cluster.members());
            let ids = ids.map(|id| id.map(|id| nul_terminated(id.into_bytes())));
            ids.collect::<twindex::Result<Vec<_>>>().map(Some)
        })?;
        let Some(ids) = ids else { return Ok(None) };
        self.ids = ids;
        self.views = self.ids.iter().map(|id| View::of_terminated(id)).collect();
        let Some((representative, members)) = self.views.split_first() else { return Ok(None) };
        Ok(Some(self.current.insert(ClusterStruct {
            representative: *representative,
            members: members.as_ptr(),
            member_count: members.len(),
        })))
    }
}

/// Finds the clusters of similar documents. `options` may be null. The progress counts steps of the
/// search, some for each document.
///
/// Ownership: the caller frees `*clusters` with twindex_clusters_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_clusters_find(
    snapshot: Option<&SnapshotHandle>,
    options: *const ClustersOptions,
    progress: Progress,
    data: *mut c_void,
    clusters: Option<&mut MaybeUninit<Option<Box<ClustersHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(clusters, "clusters")?;
        let snapshot = needed(snapshot, "snapshot")?.share();
        // SAFETY: the caller promises options.
        let options: ClustersOptions = unsafe { structs::read(options) }?;
        let (linkage, keep) = (options.linkage()?, options.keep()?);
        let estimate = choice("estimate", options.estimate)? == Some(true);
        let threshold = number(options.threshold).unwrap_or(snapshot.settings().threshold());
        let clusters = ClustersCell::try_new(snapshot, |snapshot| {
            let clustering = snapshot.clusters(threshold)?;
            let clustering = clustering.linkage(linkage).keep(keep).estimate(estimate);
            watch(clustering.find(), progress, data)
        })?;
        let count = clusters.with_dependent(|_, clusters| clusters.len());
        let reading = Reading { clusters, current: None, views: Vec::new(), ids: Vec::new() };
        *place = Some(Box::new(ClustersHandle { count, reading: Mutex::new(reading) }));
        Ok(())
    })
}

/// The number of clusters; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_clusters_count(clusters: Option<&ClustersHandle>) -> usize {
    clusters.map_or(0, |clusters| clusters.count)
}

/// Reads the ids of the cluster at a place, counted from 0. `*cluster` is null past the last one.
///
/// Ownership: the cluster belongs to the clusters, until the next call with them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_clusters_at(
    clusters: *mut ClustersHandle,
    place: usize,
    cluster: Option<&mut MaybeUninit<*const ClusterStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let result = cluster.ok_or_else(|| Failure::null("cluster"))?.write(ptr::null());
        // SAFETY: the caller promises a handle.
        let clusters = unsafe { handle(clusters, "clusters") }?;
        let mut reading = clusters.reading.try_lock().map_err(|locked| match locked {
            TryLockError::WouldBlock => Failure::busy("another thread reads these clusters"),
            TryLockError::Poisoned(_) => {
                Failure::closed("an earlier call with these clusters failed; find them again")
            }
        })?;
        if let Some(found) = reading.read(place)? {
            *result = ptr::from_ref(found);
        }
        Ok(())
    })
}

/// Frees clusters. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_clusters_free(clusters: Option<Box<ClustersHandle>>) {
    free(clusters);
}
