//! Asserts at compile time which public types are `Send` and `Sync`.

use crate::support::{Place, tiny};
use twindex::{
    Agreement, BandPlan, BottomK, BucketSizes, Cardinality, Chances, CheckReport, Cluster,
    ClusterChange, ClusterEvent, ClusterPlace, Clustering, Clusters, Containment, DedupInput,
    DedupOutcome, DedupRun, DistinctCounter, Document, DocumentInfo, Documents, Error, ErrorKind,
    Estimate, Explanation, Forecast, Form, Ids, Index, IndexOptions, Inserted, Insertion,
    Invariant, Keep, KnownPassages, Linkage, Match, Matches, Merged, Normalization, OnConflict,
    Outcome, Overlap, Pair, Pairs, Passage, PassageMatches, PassageQuery, Probe, Progress, Query,
    RandomSubsets, ReadOnlyIndex, Rebuilt, Repair, Repeats, SetSize, Settings, Shingle, Shingler,
    Signature, SizeClass, SizesSearched, Sketch, Sketcher, Snapshot, Space, Span, SyncRun, Synced,
    Textbook, Tokens, TrackedCluster, TrackedClusters, UnicodeVersions, Usage, Violation, Weights,
    Whitespace, Winnowing, Work, WriteTxn,
};

const fn can_be_sent<T: Send>() {}
const fn can_be_shared<T: Send + Sync>() {}

fn value_can_be_sent<T: Send>(value: T) -> T {
    value
}

const _: () = {
    // Handles and what they read.
    can_be_shared::<Index>();
    can_be_shared::<ReadOnlyIndex>();
    can_be_shared::<Snapshot>();
    can_be_shared::<Query<'_>>();
    can_be_shared::<PassageQuery<'_>>();
    can_be_shared::<Clustering<'_>>();
    can_be_shared::<Clusters<'_>>();
    can_be_shared::<Cluster<'_>>();
    can_be_shared::<TrackedClusters<'_>>();
    can_be_shared::<Documents<'_>>();
    can_be_shared::<Ids<'_>>();
    can_be_sent::<Pairs<'_>>();
    can_be_sent::<Repeats<'_>>();
    can_be_sent::<Work<'_, ()>>();
    // Options and settings.
    can_be_shared::<IndexOptions>();
    can_be_shared::<Settings>();
    can_be_shared::<Shingle>();
    can_be_shared::<Normalization>();
    can_be_shared::<Form>();
    can_be_shared::<Whitespace>();
    can_be_shared::<UnicodeVersions>();
    can_be_shared::<OnConflict>();
    can_be_shared::<Linkage>();
    can_be_shared::<Keep>();
    // Inputs.
    can_be_sent::<WriteTxn>();
    can_be_sent::<Insertion<'_>>();
    can_be_sent::<SyncRun<'_>>();
    can_be_shared::<Document>();
    can_be_shared::<Weights>();
    can_be_shared::<Tokens>();
    can_be_shared::<Winnowing>();
    can_be_shared::<Shingler>();
    can_be_shared::<Sketcher>();
    can_be_shared::<Signature>();
    can_be_shared::<Sketch>();
    can_be_shared::<SetSize>();
    can_be_shared::<BottomK>();
    can_be_shared::<DistinctCounter>();
    // Results.
    can_be_shared::<Synced>();
    can_be_shared::<TrackedCluster>();
    can_be_shared::<ClusterChange>();
    can_be_shared::<ClusterPlace>();
    can_be_shared::<ClusterEvent>();
    can_be_shared::<Error>();
    can_be_shared::<ErrorKind>();
    can_be_shared::<Match>();
    can_be_shared::<Matches>();
    can_be_shared::<PassageMatches>();
    can_be_shared::<KnownPassages>();
    can_be_shared::<Pair>();
    can_be_shared::<DocumentInfo>();
    can_be_shared::<Inserted>();
    can_be_shared::<Outcome>();
    can_be_shared::<DedupOutcome>();
    can_be_shared::<DedupInput>();
    can_be_shared::<DedupRun>();
    can_be_shared::<Merged>();
    can_be_shared::<Rebuilt>();
    can_be_shared::<Repair>();
    can_be_shared::<CheckReport>();
    can_be_shared::<Violation>();
    can_be_shared::<Invariant>();
    can_be_shared::<Usage>();
    can_be_shared::<Space>();
    can_be_shared::<Progress>();
    can_be_shared::<BucketSizes>();
    can_be_shared::<SizeClass>();
    can_be_shared::<SizesSearched>();
    // Estimates without an index.
    can_be_shared::<Agreement>();
    can_be_shared::<Cardinality>();
    can_be_shared::<Containment>();
    can_be_shared::<Estimate>();
    can_be_shared::<Explanation>();
    can_be_shared::<Passage>();
    can_be_shared::<Span>();
    can_be_shared::<Overlap>();
    can_be_shared::<RandomSubsets>();
    can_be_shared::<BandPlan>();
    can_be_shared::<Chances>();
    can_be_shared::<Forecast>();
    can_be_shared::<Probe>();
    can_be_shared::<Textbook>();
};

#[test]
fn a_write_transaction_and_long_work_can_be_sent() {
    let place = Place::new();
    let mut index = tiny().create(place.index()).expect("created");
    let txn = value_can_be_sent(index.begin_write().expect("begun"));
    txn.commit().expect("committed");
    value_can_be_sent(index.check()).run().expect("checked");
    value_can_be_sent(index.compact()).run().expect("compacted");
}
