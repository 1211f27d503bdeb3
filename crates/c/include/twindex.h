/*
 * libtwindex: an embedded, crash-safe index of similar documents, in one file.
 *
 * Results. Every function that can fail returns a twindex_status: TWINDEX_OK, or the class of its
 * error. Give it a twindex_error, or a null pointer, as its last argument, and it says there what
 * is wrong. A handle that could not be made is null. Absence is no error: what was not found is
 * null.
 *
 * Texts are UTF-8 and come with their length in bytes, or with TWINDEX_NUL if they end in a NUL.
 * Texts that the library returns also have a NUL after their last byte.
 *
 * Ownership. What a function makes is freed with the function that is named beside it. What
 * "belongs to" a handle is valid until that handle is freed or, where it says so, is used again.
 * Handles may be freed in any order. Using a handle after it was freed is a mistake that nothing
 * detects.
 *
 * Threads. An index, a snapshot, a sketcher, matches and passages can be used by any number of
 * threads at once. A transaction, pairs, ids and clusters are used by one at a time, any one;
 * another call meanwhile returns TWINDEX_BUSY. An error belongs to one thread at a time, as any
 * variable.
 *
 * Processes. A child that was forked after a call of the library may use it: the library works on
 * threads of its own there. It must not use or free what its parent has made.
 *
 * The library installs no signal handlers and writes nothing to standard output or standard error.
 * It ends the process only if the system refuses it memory, as programs in Rust do.
 *
 * docs/embedding.md has a tour.
 */

#ifndef TWINDEX_H
#define TWINDEX_H

#include <stddef.h>
#include <stdint.h>

// The version of this header. twindex_version() is that of the library.
#define TWINDEX_VERSION "0.1.0"

// A length that means: up to the first NUL. Beware of negative numbers that become lengths.
#define TWINDEX_NUL SIZE_MAX

// Yes, for a field that is a choice.
#define TWINDEX_YES 1

// No, for a field that is a choice.
#define TWINDEX_NO 2

// The id was new, and the document was added.
#define TWINDEX_ADDED 1

// The document replaced one with the same id and another text.
#define TWINDEX_REPLACED 2

// The index has the document with the same id and text. Nothing was written.
#define TWINDEX_UNCHANGED 3

// The index has the id with another text and keeps that document.
#define TWINDEX_SKIPPED 4

// A similar document is known, and this one was not inserted.
#define TWINDEX_DUPLICATE 5

// A document replaces one with the same id and another text.
#define TWINDEX_ON_CONFLICT_REPLACE 1

// A document is left out if its id is there with another text.
#define TWINDEX_ON_CONFLICT_SKIP 2

// Every member is similar to the representative of its cluster.
#define TWINDEX_LINKAGE_REPRESENTATIVE 1

// Clusters are the connected parts of the graph of similar pairs.
#define TWINDEX_LINKAGE_CONNECTED 2

// The representative is the document that was inserted first.
#define TWINDEX_KEEP_FIRST 1

// The representative is the document with the longest text.
#define TWINDEX_KEEP_LONGEST 2

// The representative is the document with the smallest id, in byte order.
#define TWINDEX_KEEP_ID 3

// A stream of the Arrow C stream interface, as
// <https://arrow.apache.org/docs/format/CStreamInterface.html> declares it.
typedef struct ArrowArrayStream ArrowArrayStream;

// The clusters of a snapshot, the largest first.
//
// Threads: one at a time. A call meanwhile returns TWINDEX_BUSY.
typedef struct twindex_clusters twindex_clusters;

// What went wrong in a call: its status, a message for people, and the path of the file.
//
// The caller makes one and gives it to calls, which fill it when they fail. It belongs to the
// caller: use one for each thread, or one for each call.
typedef struct twindex_error twindex_error;

// A walk over the ids of all documents of a snapshot, in the order of insertion.
//
// Threads: one at a time. A call meanwhile returns TWINDEX_BUSY.
typedef struct twindex_ids twindex_ids;

// An open index: one file with documents, their signatures and what finds them.
//
// Threads: any number may use it at once. One process writes to a file, others read it meanwhile.
typedef struct twindex_index twindex_index;

// The result of a query: matches by descending similarity, then by ascending id. Those of a query
// for containment come by the lower end of its interval, then by the containment.
//
// Threads: any number may read it at once.
typedef struct twindex_matches twindex_matches;

// A walk over all similar pairs of a snapshot, each once.
//
// Threads: one at a time. A call meanwhile returns TWINDEX_BUSY.
typedef struct twindex_pairs twindex_pairs;

// The documents that share a passage with a text: those that share most first, then by ascending
// id.
//
// Threads: any number may read it at once.
typedef struct twindex_passages twindex_passages;

// Turns texts into signatures, under the settings of an index or others.
//
// Threads: any number may use it at once.
typedef struct twindex_sketcher twindex_sketcher;

// The state of an index after one commit. Later writes do not change it. It keeps the file open,
// and the space of what was deleted since.
//
// Threads: any number may use it at once.
typedef struct twindex_snapshot twindex_snapshot;

// A write transaction. An index has one at a time. Nobody else sees its changes before the commit.
//
// After TWINDEX_MISUSE, TWINDEX_INVALID_INPUT, TWINDEX_MISMATCH and TWINDEX_BUSY, a call for one
// document has changed nothing, and the transaction goes on. After other errors it may be one that
// cannot be committed.
//
// Threads: one at a time; it may move to another. A call meanwhile returns TWINDEX_BUSY.
typedef struct twindex_txn twindex_txn;

// What a call returns: TWINDEX_OK, or the class of its error.
typedef int32_t twindex_status;

// A text that the library returns: UTF-8, and a NUL after its last byte. Paths are the bytes that
// the operating system knows.
typedef struct {
    // The bytes. Never null.
    const char *data;
    // The number of bytes before the NUL at the end. A text may hold other NULs.
    size_t length;
} twindex_string;

// How an index is created and opened. Set all bytes to zero, then `size`; a field that is zero has
// its default in a new index, and any value in an existing one. A choice is TWINDEX_YES or
// TWINDEX_NO, so that 0 is neither: compare it, and do not use it as a condition.
//
//     twindex_settings settings = {.size = sizeof settings};
//     settings.threshold = 0.9;
//     settings.store_text = TWINDEX_YES;
typedef struct {
    // sizeof(twindex_settings).
    size_t size;
    // The similarity from which on documents count as similar: above 0, at most 1. Default 0.8.
    double threshold;
    // The least probability with which a pair at the threshold is found: above 0, below 1.
    // Default 0.99.
    double recall;
    // What documents are cut into: "char:9", "word:3", "line:2", "token" or "kmer:21". Default
    // "char:9". NUL-terminated.
    const char *shingle;
    // What is made equal before: a list of "lower", "nfc", "nfkc", "space", "nospace" and
    // "minword=N", or "none". Default "lower,nfc,space". NUL-terminated.
    const char *normalization;
    // The seed of all hashes. Default 0.
    uint64_t seed;
    // TWINDEX_YES: draws a seed that nobody can guess.
    uint32_t random_seed;
    // The number of lanes of a signature: 64, 128, 256 or 512. Default 256.
    uint32_t lanes;
    // Whether repeated shingles count as often as they occur: TWINDEX_YES or TWINDEX_NO. Default
    // no.
    uint32_t multiset;
    // Whether documents are weighted sets: TWINDEX_YES or TWINDEX_NO. Default no. A text is then
    // a list of tokens and weights, each followed by U+001F.
    uint32_t weighted;
    // Whether the index stores texts, so that answers are exact: TWINDEX_YES or TWINDEX_NO.
    // Default no.
    uint32_t store_text;
    // How long opening waits for another process that writes, in milliseconds. Default 0.
    uint32_t wait_ms;
    // The memory for pages of the file, in bytes. Default 64 MiB. Filters may take as much again,
    // or 256 MiB if that is more.
    uint64_t cache_bytes;
    // How many documents are kept in memory before they become a sorted run. Default 65,536.
    uint64_t flush_documents;
    // How many runs of one size are merged into one. Default 8.
    uint64_t merge_runs;
    // The length of the passages that are found wherever they were copied, in characters, words,
    // lines or tokens, as the shingle says. Default: none are.
    uint64_t passages;
} twindex_settings;

// A function that is told how far some work is, on the thread that called it (in a forked child,
// on one of the threads that the library has there): `done` of `total`, which is 0 if it is not
// known. It returns 0 to go on; any other value stops the work, whose call then returns
// TWINDEX_INTERRUPTED. Null: nobody is told.
//
// It must return: no exception, longjmp or end of the thread may leave it. It must not free the
// handles that are at work.
typedef int (*twindex_progress)(void *data, uint64_t done, uint64_t total);

// What a check has found. Later versions may add fields at the end, so use it through the pointer
// that the library gives.
typedef struct {
    // The number of live documents that were read.
    uint64_t documents;
    // The number of band entries that were read.
    uint64_t entries;
    // The number of violated invariants: 0 for an index without damage.
    uint64_t violation_count;
    // The first thousand of them: the number of the invariant (docs/format.md), the place, and
    // what is wrong.
    const twindex_string *violations;
    // How many `violations` there are.
    size_t violations_listed;
} twindex_report;

// How documents are inserted. Set all bytes to zero, then `size`; a field that is zero has its
// default.
typedef struct {
    // sizeof(twindex_insertion).
    size_t size;
    // Leaves out documents that are at least so similar to a known one: above 0, at most 1.
    // Default: that of the index for twindex_txn_insert_unless_similar, and for other calls every
    // document is inserted.
    double unless_similar;
    // Other indexes whose documents count as known too: an array of pointers to snapshots.
    const twindex_snapshot *const *against;
    // How many snapshots there are.
    size_t against_count;
    // Compares a document with at most so many candidates of each index. Default 4,096.
    uint64_t max_candidates;
    // TWINDEX_ON_CONFLICT_REPLACE, the default, or TWINDEX_ON_CONFLICT_SKIP.
    uint32_t on_conflict;
    // TWINDEX_YES: uses estimates even if the index stores texts.
    uint32_t estimate;
    // The column of ids of an Arrow stream: strings or whole numbers. Default "id", if there is
    // such a column. NUL-terminated.
    const char *id_column;
    // The column of texts, of lists of tokens, or of maps of tokens to weights. Default "text".
    // NUL-terminated.
    const char *text_column;
    // The column of signatures, of binary of any type, which are inserted instead of
    // texts. Default: none; texts are inserted. NUL-terminated.
    const char *signature_column;
} twindex_insertion;

// A document that is similar to what was asked about. Later versions may add fields at the end, so
// use it through the pointer that the library gives.
typedef struct {
    // The id of the document.
    twindex_string id;
    // The Jaccard similarity, from 0 to 1.
    double similarity;
    // The lower end of the interval of the similarity. Equals it if that is exact.
    double low;
    // The upper end of the interval.
    double high;
    // The share of the query that the document contains, from 0 to 1; -1 unless the query was for
    // containment.
    double containment;
    // The lower end of the interval of the containment; -1 without one.
    double containment_low;
    // The upper end of the interval of the containment; -1 without one.
    double containment_high;
    // 1 if the similarity was computed from stored texts, 0 if it is an estimate.
    uint32_t exact;
} twindex_match;

// What became of a document. Later versions may add fields at the end, so use it through the
// pointer that the library gives.
typedef struct {
    // TWINDEX_ADDED, TWINDEX_REPLACED, TWINDEX_UNCHANGED, TWINDEX_SKIPPED or TWINDEX_DUPLICATE.
    uint32_t what;
    // For a duplicate, the place of the index in `against` that has the similar document, from 0;
    // -1 for the index itself.
    int32_t against;
    // For a duplicate, the most similar document; else null.
    const twindex_match *similar;
} twindex_outcome;

// How many documents a call inserted or left out. Later versions may add fields at the end, so use
// it through the pointer that the library gives.
typedef struct {
    // The number of documents whose ids were new.
    uint64_t added;
    // The number of documents that replaced one with the same id and another text.
    uint64_t replaced;
    // The number of documents that were there, with the same id and text.
    uint64_t unchanged;
    // The number of documents left out because the index has their id with another text.
    uint64_t skipped;
    // The number of documents left out as duplicates.
    uint64_t duplicates;
} twindex_counts;

// What an index tells of a document. Later versions may add fields at the end, so use it through
// the pointer that the library gives.
typedef struct {
    // The id.
    twindex_string id;
    // The text, if the index stores texts; else empty.
    twindex_string text;
    // The signature: a byte for each lane, then 4 for the size of the set. These are bytes, not
    // UTF-8.
    twindex_string signature;
    // The length of the text in bytes, whether it is stored or not.
    uint64_t text_bytes;
    // When it was inserted, in seconds since 1970.
    int64_t inserted;
    // The number of its distinct shingles, by estimate.
    double shingles;
} twindex_document;

// What to look for. Set all bytes to zero, then `size`; a field that is zero has its default.
typedef struct {
    // sizeof(twindex_query).
    size_t size;
    // The least similarity to report: above 0, at most 1. Default: that of the index.
    double threshold;
    // The least probability of finding a document at the threshold. Default: that of the index.
    double recall;
    // The probability that the interval of a similarity holds the true one. Default 0.95.
    double confidence;
    // Reports at most so many matches, the most similar ones and, of equally similar ones, those
    // that were inserted first. Default: all.
    uint64_t limit;
    // Finds the so many most similar documents, which is cheaper than a limit if the threshold is
    // low, or if there are very many copies. Default: all at the threshold.
    uint64_t top;
    // The id of a document to leave out.
    const char *excluded;
    // The length of that id in bytes; 0 or TWINDEX_NUL if it ends in a NUL.
    size_t excluded_length;
    // TWINDEX_YES: the threshold is one of containment, the share of the query that is in a
    // document.
    uint32_t containment;
    // TWINDEX_YES: uses estimates even if the index stores texts.
    uint32_t estimate;
    // TWINDEX_YES: compares with every document, so that none is missed.
    uint32_t scan;
    // TWINDEX_YES: reports all candidates, whatever their similarity.
    uint32_t all_candidates;
    // Compares at most so many candidates: those that share the most buckets with what is asked.
    // This bounds the time if very many documents are nearly similar. twindex_matches_limited
    // tells whether others may have been left out. Not together with `scan`. Default: all.
    uint64_t max_candidates;
} twindex_query;

// Which documents to report that share a passage with a text. Set all bytes to zero, then `size`;
// a field that is zero has its default.
typedef struct {
    // sizeof(twindex_passage_query).
    size_t size;
    // The least share of the text that a document must share, from 0 to 1. Default: any.
    double threshold;
    // Reports at most so many documents, those that share most and, of those that share as much,
    // those that were inserted first. Default: all.
    uint64_t limit;
    // The id of a document to leave out.
    const char *excluded;
    // The length of that id in bytes; 0 or TWINDEX_NUL if it ends in a NUL.
    size_t excluded_length;
    // Compares at most so many documents: those that have the most fingerprints of the text.
    // twindex_passages_limited tells whether others may have been left out. Default: all.
    uint64_t max_candidates;
} twindex_passage_query;

// A document that shares a passage with the text. Later versions may add fields at the end, so use
// it through the pointer that the library gives.
typedef struct {
    // The id of the document.
    twindex_string id;
    // The share of the text that lies in shared passages, from 0 to 1. Without stored texts, at
    // least so much.
    double share;
    // The most that can lie in shared passages. Equals `share` if the index stores texts.
    double most;
    // The number of shared passages.
    size_t passages;
} twindex_passage_match;

// A passage that the text and a document share. Places are in bytes. Later versions may add fields
// at the end, so use it through the pointer that the library gives.
typedef struct {
    // Where it begins in the text.
    size_t start;
    // Where it ends in the text.
    size_t end;
    // Where it begins in the document; SIZE_MAX if the index stores no texts.
    size_t document_start;
    // Where it ends in the document; SIZE_MAX if the index stores no texts.
    size_t document_end;
    // The number of its units: characters after normalisation, words, lines or tokens. Without
    // stored texts, at least so many.
    size_t units;
    // The most units that it can have. Equals `units` if the index stores texts.
    size_t most_units;
} twindex_passage;

// Which pairs to look for. Set all bytes to zero, then `size`; a field that is zero has its
// default.
typedef struct {
    // sizeof(twindex_pairs_options).
    size_t size;
    // The least similarity to report: above 0, at most 1. Default: that of the index.
    double threshold;
    // The probability that the interval of a similarity holds the true one. Default 0.95.
    double confidence;
    // Reports each document in at most so many pairs. Default: in all.
    uint32_t max_per_document;
    // TWINDEX_YES: uses estimates even if the index stores texts.
    uint32_t estimate;
} twindex_pairs_options;

// A pair of similar documents. Later versions may add fields at the end, so use it through the
// pointer that the library gives.
typedef struct {
    // The smaller of the two ids, in byte order.
    twindex_string a;
    // The greater id.
    twindex_string b;
    // The Jaccard similarity, from 0 to 1.
    double similarity;
    // The lower end of the interval of the similarity. Equals it if that is exact.
    double low;
    // The upper end of the interval.
    double high;
    // 1 if the similarity was computed from stored texts, 0 if it is an estimate.
    uint32_t exact;
} twindex_pair;

// Which clusters to look for. Set all bytes to zero, then `size`; a field that is zero has its
// default.
typedef struct {
    // sizeof(twindex_clusters_options).
    size_t size;
    // The least similarity: above 0, at most 1. Default: that of the index.
    double threshold;
    // TWINDEX_LINKAGE_REPRESENTATIVE, the default, or TWINDEX_LINKAGE_CONNECTED.
    uint32_t linkage;
    // Which document represents a cluster: TWINDEX_KEEP_FIRST, the default, or another.
    uint32_t keep;
    // TWINDEX_YES: uses estimates even if the index stores texts.
    uint32_t estimate;
    // Zero.
    uint32_t reserved;
} twindex_clusters_options;

// A cluster of at least two similar documents. Later versions may add fields at the end, so use it
// through the pointer that the library gives.
typedef struct {
    // The id of the document that represents the cluster.
    twindex_string representative;
    // The ids of all members in the order of insertion, the representative included.
    const twindex_string *members;
    // How many `members` there are.
    size_t member_count;
} twindex_cluster;

// The call did what it is for.
#define TWINDEX_OK 0

// No index exists at the path. Create it, or choose another path.
#define TWINDEX_NOT_FOUND 1

// A file already exists at the path. Open it, or choose another path.
#define TWINDEX_ALREADY_EXISTS 2

// An argument, a setting or a document is not valid. The same input gives the same error again.
#define TWINDEX_INVALID_INPUT 3

// The call needs an index with other settings.
#define TWINDEX_MISMATCH 4

// Another process, transaction, snapshot or call is in the way. End it or wait, and try again.
#define TWINDEX_BUSY 5

// The path leads to another file than the one that is open. Free the index and open it
// again at its new path.
#define TWINDEX_MOVED 6

// A progress function stopped the work. The message says what was done and what was left.
#define TWINDEX_INTERRUPTED 7

// The file must be repaired before all of it can be used.
#define TWINDEX_DAMAGED 8

// This version cannot read the file: it is not an index, or its format is newer.
#define TWINDEX_UNSUPPORTED 9

// A limit is reached: the index has no free numbers, or there is too little memory.
#define TWINDEX_FULL 10

// The operating system or the storage failed. Free the index and open it again: it is then at its
// last commit.
#define TWINDEX_IO 11

// The call is a mistake of the program: a null pointer, a length or a `size` that cannot be, or an
// argument that is not UTF-8.
#define TWINDEX_MISUSE 20

// The index was closed, the transaction has ended, the pairs were taken over, or an earlier call
// with the handle was TWINDEX_DEFECT.
#define TWINDEX_CLOSED 21

// The library failed by a defect of its own. Nothing says that the file is damaged. Please report
// the message.
#define TWINDEX_DEFECT 22

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes an error, which says TWINDEX_OK until a call fills it. Never fails.
//
// Ownership: the caller frees it with twindex_error_free.
twindex_error *twindex_error_new(void);

// The status of the last failed call that was given this error; TWINDEX_OK if there was none, or
// if the error is null.
twindex_status twindex_error_status(const twindex_error *error);

// The message of the last failed call: one line that says what is wrong and what to do. Empty if
// there was none, or if the error is null.
//
// Ownership: the text belongs to the error, until the next call that is given it.
twindex_string twindex_error_message(const twindex_error *error);

// The path of the file that the last failed call was about. Empty if it was about no file, or if
// the error is null.
//
// Ownership: the text belongs to the error, until the next call that is given it.
twindex_string twindex_error_path(const twindex_error *error);

// Frees an error. Null is fine.
void twindex_error_free(twindex_error *error);

// Creates an index, and opens it for reading and writing. `settings` may be null.
//
// Ownership: the caller frees `*index` with twindex_index_free. It is null after an error.
twindex_status twindex_index_create(const char *path,
                                    size_t path_length,
                                    const twindex_settings *settings,
                                    twindex_index **index,
                                    twindex_error *error);

// Opens an index for reading and writing. `settings` may be null; one that differs from the
// setting of the index is an error.
//
// Ownership: the caller frees `*index` with twindex_index_free. It is null after an error.
twindex_status twindex_index_open(const char *path,
                                  size_t path_length,
                                  const twindex_settings *settings,
                                  twindex_index **index,
                                  twindex_error *error);

// Opens an index for reading and writing, and creates it if there is none at the path.
//
// Ownership: the caller frees `*index` with twindex_index_free. It is null after an error.
twindex_status twindex_index_open_or_create(const char *path,
                                            size_t path_length,
                                            const twindex_settings *settings,
                                            twindex_index **index,
                                            twindex_error *error);

// Opens an index for reading only, also while another process writes to it. Needs no permission to
// write.
//
// Ownership: the caller frees `*index` with twindex_index_free. It is null after an error.
twindex_status twindex_index_open_read_only(const char *path,
                                            size_t path_length,
                                            const twindex_settings *settings,
                                            twindex_index **index,
                                            twindex_error *error);

// Fills `settings`, whose `size` is set, with those of an index, also of a closed one. The fields
// that only concern opening are 0.
//
// Ownership: the texts belong to the index, until it is freed.
twindex_status twindex_index_settings(const twindex_index *index,
                                      twindex_settings *settings,
                                      twindex_error *error);

// Closes an index: ends what goes on in the background, so that the next opening is fast. All that
// was committed is durable without it. Every later call with the index returns TWINDEX_CLOSED.
//
// After TWINDEX_BUSY, because a transaction is in use or another call is running, the index is
// still open. After any other error it is closed.
//
// Snapshots, and pairs, ids and clusters that read them, stay valid. As long as there are any, the
// file stays open, and no other process can write to it.
twindex_status twindex_index_close(twindex_index *index, twindex_error *error);

// Frees an index, and closes its file when the last transaction and snapshot, and what reads a
// snapshot, are freed. Leaves the work of twindex_index_close to the next writer if it was not
// called. Null is fine.
void twindex_index_free(twindex_index *index);

// The version of the library, such as "0.1.0". NUL-terminated; it belongs to the library.
const char *twindex_version(void);

// Checks all invariants of the file on its last commit. Reads the whole file. Damage is no error
// here: the report lists it.
//
// Ownership: the caller frees `*report` with twindex_report_free. It is null after an error.
twindex_status twindex_index_check(const twindex_index *index,
                                   twindex_progress progress,
                                   void *data,
                                   const twindex_report **report,
                                   twindex_error *error);

// Frees a report. Null is fine.
void twindex_report_free(const twindex_report *report);

// Merges all runs into one, drops removed documents, and returns the free space to the file
// system. Needs the index for itself, or returns TWINDEX_BUSY: end the transaction, make no other
// call meanwhile, and free all snapshots and what reads them: pairs, ids, clusters, and the Arrow
// stream of pairs. It also returns TWINDEX_BUSY if another process, or an index of this one that
// is open to be read, has a snapshot. Everything but shrinking the file is done then; call it
// again later.
twindex_status twindex_index_compact(twindex_index *index,
                                     twindex_progress progress,
                                     void *data,
                                     twindex_error *error);

// Begins a write transaction. With `wait` 1, waits until the one before has ended; with 0, returns
// TWINDEX_BUSY if there is one.
//
// A thread that holds the transaction would wait for ever, so it gets TWINDEX_BUSY with `wait` 1,
// too. The library takes the thread that used the transaction last for the one that holds it. A
// program that moves transactions between threads, or whose tasks change threads as those of Go
// do, should call this with `wait` 0 and try again, or keep a lock of its own.
//
// Ownership: the caller frees `*txn` with twindex_txn_free. It is null after an error.
twindex_status twindex_txn_begin(const twindex_index *index,
                                 int32_t wait,
                                 twindex_txn **txn,
                                 twindex_error *error);

// Begins a write transaction like `twindex_txn_begin`, but waits at most `wait_ms` milliseconds
// for the one before to end. After that it returns TWINDEX_BUSY.
//
// Ownership: the caller frees `*txn` with twindex_txn_free. It is null after an error.
twindex_status twindex_txn_begin_within(const twindex_index *index,
                                        uint32_t wait_ms,
                                        twindex_txn **txn,
                                        twindex_error *error);

// Inserts a document, or replaces the one with the same id. A text is UTF-8 and may hold NULs; an
// id has 1 to 4,096 bytes. `outcome` may be null.
//
// Ownership: `*outcome` belongs to the transaction, until the next call with it.
twindex_status twindex_txn_insert(twindex_txn *txn,
                                  const char *id,
                                  size_t id_length,
                                  const char *data,
                                  size_t length,
                                  const twindex_insertion *insertion,
                                  const twindex_outcome **outcome,
                                  twindex_error *error);

// Inserts a document unless a similar one is known, in the index or earlier in the transaction.
// `insertion` may be null: the threshold of the index counts then. `outcome` may be null.
//
// Ownership: `*outcome` belongs to the transaction, until the next call with it.
twindex_status twindex_txn_insert_unless_similar(twindex_txn *txn,
                                                 const char *id,
                                                 size_t id_length,
                                                 const char *data,
                                                 size_t length,
                                                 const twindex_insertion *insertion,
                                                 const twindex_outcome **outcome,
                                                 twindex_error *error);

// Inserts a document by its signature, which the sketcher of this index made. An index that stores
// texts, or has passages, takes none. `insertion` and `outcome` may be null.
//
// Ownership: `*outcome` belongs to the transaction, until the next call with it.
twindex_status twindex_txn_insert_signature(twindex_txn *txn,
                                            const char *id,
                                            size_t id_length,
                                            const uint8_t *signature,
                                            size_t length,
                                            const twindex_insertion *insertion,
                                            const twindex_outcome **outcome,
                                            twindex_error *error);

// Removes the document with this id. `removed` may be null; it becomes 1 if there was one, else 0.
twindex_status twindex_txn_remove(twindex_txn *txn,
                                  const char *id,
                                  size_t id_length,
                                  int32_t *removed,
                                  twindex_error *error);

// Inserts all documents of another index with equal settings, with their signatures and insertion
// times. With `attach` 1, takes over its sorted runs instead of inserting one document after the
// other, which is faster for documents that the index does not have. The progress counts
// documents. `counts` may be null.
//
// TWINDEX_MISUSE, TWINDEX_INVALID_INPUT, TWINDEX_MISMATCH and TWINDEX_BUSY change nothing. After
// another error, TWINDEX_INTERRUPTED included, the transaction has a part of the documents; with
// `attach` 1 it cannot be committed, and the commit returns TWINDEX_IO.
//
// Ownership: `*counts` belongs to the transaction, until the next call with it.
twindex_status twindex_txn_merge(twindex_txn *txn,
                                 const twindex_snapshot *source,
                                 uint32_t on_conflict,
                                 int32_t attach,
                                 twindex_progress progress,
                                 void *data,
                                 const twindex_counts **counts,
                                 twindex_error *error);

// Makes all changes durable, then visible, and ends the transaction. Takes at least the time of a
// disk sync. The handle remains, and is freed with twindex_txn_free.
//
// An error ends it, too, and undoes its changes, with two exceptions. After TWINDEX_BUSY, because
// another call uses the transaction, it goes on. After TWINDEX_MOVED the changes are in the file
// that is open, which has lost its name.
twindex_status twindex_txn_commit(twindex_txn *txn, twindex_error *error);

// Undoes all changes and ends the transaction. The handle remains, and is freed with
// twindex_txn_free.
twindex_status twindex_txn_abort(twindex_txn *txn, twindex_error *error);

// Frees a transaction, and undoes its changes if it has not ended. Null is fine.
void twindex_txn_free(twindex_txn *txn);

// Takes a snapshot of the last commit, by any process. Never waits for a writer; takes
// microseconds unless another process has committed since.
//
// Ownership: the caller frees `*snapshot` with twindex_snapshot_free, before or after it closes
// the index. It is null after an error.
twindex_status twindex_snapshot_take(const twindex_index *index,
                                     twindex_snapshot **snapshot,
                                     twindex_error *error);

// The number of documents; 0 for a null pointer.
uint64_t twindex_snapshot_count(const twindex_snapshot *snapshot);

// Reads what the index tells of a document: sizes, time, signature, and the text if it is stored.
// `*document` is null if there is no document with this id.
//
// Ownership: the caller frees `*document` with twindex_document_free. It is null after an error.
twindex_status twindex_snapshot_get(const twindex_snapshot *snapshot,
                                    const char *id,
                                    size_t id_length,
                                    const twindex_document **document,
                                    twindex_error *error);

// Writes a copy of the snapshot to a new file, without free space. Writers may change the index
// meanwhile. The progress counts rows; no copy is left after an error.
twindex_status twindex_snapshot_backup(const twindex_snapshot *snapshot,
                                       const char *path,
                                       size_t path_length,
                                       twindex_progress progress,
                                       void *data,
                                       twindex_error *error);

// The number of the commit that a snapshot shows; 0 for a null pointer. Each commit has a greater
// number than the one before, whichever process made it.
uint64_t twindex_snapshot_commit_number(const twindex_snapshot *snapshot);

// Frees a snapshot. Null is fine. Matches, pairs, clusters and documents that came from it stay
// valid.
void twindex_snapshot_free(twindex_snapshot *snapshot);

// Frees a document that twindex_snapshot_get gave. Null is fine.
void twindex_document_free(const twindex_document *document);

// Finds the documents that are similar to a text. `query` may be null: the threshold of the index
// counts then.
//
// Ownership: the caller frees `*matches` with twindex_matches_free. It is null after an error.
twindex_status twindex_query_text(const twindex_snapshot *snapshot,
                                  const char *data,
                                  size_t length,
                                  const twindex_query *query,
                                  twindex_matches **matches,
                                  twindex_error *error);

// Finds the documents that are similar to one of the index, which is left out itself. `*matches`
// is null if there is no document with this id.
//
// Ownership: the caller frees `*matches` with twindex_matches_free. It is null after an error.
twindex_status twindex_query_id(const twindex_snapshot *snapshot,
                                const char *id,
                                size_t id_length,
                                const twindex_query *query,
                                twindex_matches **matches,
                                twindex_error *error);

// Finds the documents that are similar to the one with this signature, by estimate.
//
// Ownership: the caller frees `*matches` with twindex_matches_free. It is null after an error.
twindex_status twindex_query_signature(const twindex_snapshot *snapshot,
                                       const uint8_t *signature,
                                       size_t length,
                                       const twindex_query *query,
                                       twindex_matches **matches,
                                       twindex_error *error);

// The number of matches; 0 for a null pointer.
size_t twindex_matches_count(const twindex_matches *matches);

// The match at a place, counted from 0; null past the last one.
//
// Ownership: the match belongs to the matches.
const twindex_match *twindex_matches_at(const twindex_matches *matches, size_t place);

// The probability that a document at the threshold was found, at least; 0 for a null pointer.
double twindex_matches_recall(const twindex_matches *matches);

// The number of matches that a limit left out; 0 for a null pointer.
uint64_t twindex_matches_left_out(const twindex_matches *matches);

// 1 if `max_candidates` may have left out candidates, so that similar documents may be missing.
// Otherwise 0, also for a null pointer.
uint32_t twindex_matches_limited(const twindex_matches *matches);

// Frees matches. Null is fine.
void twindex_matches_free(twindex_matches *matches);

// Finds the documents that share a passage with a text: a stretch of at least as many units as the
// settings of the index say. None is missed, however little of a document it is. The index must
// have been created with `passages`. `query` may be null.
//
// Ownership: the caller frees `*passages` with twindex_passages_free. It is null after an error.
twindex_status twindex_passages_find(const twindex_snapshot *snapshot,
                                     const char *data,
                                     size_t length,
                                     const twindex_passage_query *query,
                                     twindex_passages **passages,
                                     twindex_error *error);

// The number of documents; 0 for a null pointer.
size_t twindex_passages_count(const twindex_passages *passages);

// The document at a place, counted from 0; null past the last one.
//
// Ownership: the document belongs to the passages.
const twindex_passage_match *twindex_passages_at(const twindex_passages *passages, size_t place);

// A passage of the document at a place, in the order of the text, both counted from 0; null past
// the last one. Passages may overlap in the text.
//
// Ownership: the passage belongs to the passages.
const twindex_passage *twindex_passages_passage(const twindex_passages *passages,
                                                size_t place,
                                                size_t passage);

// The number of documents that a limit left out; 0 for a null pointer.
uint64_t twindex_passages_left_out(const twindex_passages *passages);

// 1 if `max_candidates` may have left out documents that have a fingerprint of the text, so that a
// shared passage may be missing. Otherwise 0, also for a null pointer.
uint32_t twindex_passages_limited(const twindex_passages *passages);

// Frees passages. Null is fine.
void twindex_passages_free(twindex_passages *passages);

// Begins to look for all pairs of similar documents. `options` may be null: the threshold of the
// index counts then. The pairs are found while twindex_pairs_next is called.
//
// Ownership: the caller frees `*pairs` with twindex_pairs_free. It is null after an error.
twindex_status twindex_pairs_open(const twindex_snapshot *snapshot,
                                  const twindex_pairs_options *options,
                                  twindex_pairs **pairs,
                                  twindex_error *error);

// Finds the next pair. `*pair` is null after the last one.
//
// Ownership: the pair belongs to the pairs, until the next call with them.
twindex_status twindex_pairs_next(twindex_pairs *pairs,
                                  const twindex_pair **pair,
                                  twindex_error *error);

// Frees pairs. Null is fine.
void twindex_pairs_free(twindex_pairs *pairs);

// Begins to list the ids of all documents, in the order of insertion.
//
// Ownership: the caller frees `*ids` with twindex_ids_free. It is null after an error.
twindex_status twindex_ids_open(const twindex_snapshot *snapshot,
                                twindex_ids **ids,
                                twindex_error *error);

// Reads the next id. After the last one, `id->length` is 0, which no id has.
//
// Ownership: the id belongs to `ids`, until the next call with them.
twindex_status twindex_ids_next(twindex_ids *ids, twindex_string *id, twindex_error *error);

// Frees a list of ids. Null is fine.
void twindex_ids_free(twindex_ids *ids);

// Finds the clusters of similar documents. `options` may be null. The progress counts steps of the
// search, some for each document.
//
// Ownership: the caller frees `*clusters` with twindex_clusters_free. It is null after an error.
twindex_status twindex_clusters_find(const twindex_snapshot *snapshot,
                                     const twindex_clusters_options *options,
                                     twindex_progress progress,
                                     void *data,
                                     twindex_clusters **clusters,
                                     twindex_error *error);

// The number of clusters; 0 for a null pointer.
size_t twindex_clusters_count(const twindex_clusters *clusters);

// Reads the ids of the cluster at a place, counted from 0. `*cluster` is null past the last one.
//
// Ownership: the cluster belongs to the clusters, until the next call with them.
twindex_status twindex_clusters_at(twindex_clusters *clusters,
                                   size_t place,
                                   const twindex_cluster **cluster,
                                   twindex_error *error);

// Frees clusters. Null is fine.
void twindex_clusters_free(twindex_clusters *clusters);

// Inserts all rows of an Arrow stream (the Arrow C stream interface), sketched on all threads: a
// column of ids, and one of texts or of signatures. Without a column "id", documents get the ids
// "#1", "#2" and so on, which an index never gives twice. This is the fast way to insert many
// documents.
//
// `outcomes` may be null, or points to a stream that is filled with a row for each document: `id`,
// `outcome` ("added", "replaced", "unchanged", "skipped" or "duplicate"), `duplicate_of` and
// `similarity`. `counts` may be null.
//
// After an error, `counts` tells how many of the rows before the bad one are inserted. It is null
// if the call has not begun to read. End the transaction without a commit to undo them. An error
// of the stream itself is TWINDEX_INVALID_INPUT, with its message.
//
// Ownership: the call takes over `stream` and releases it, also after an error. The caller
// releases `outcomes`, which is released already after an error. `*counts` belongs to the
// transaction, until the next call with it.
twindex_status twindex_txn_insert_arrow(twindex_txn *txn,
                                        ArrowArrayStream *stream,
                                        const twindex_insertion *insertion,
                                        ArrowArrayStream *outcomes,
                                        const twindex_counts **counts,
                                        twindex_error *error);

// Inserts the documents of another index with equal settings, as twindex_txn_merge does, and
// leaves out those that are similar to a known one, in the index or earlier in the transaction: so
// parts that were deduplicated apart become one. `insertion` may be null: the threshold of the
// index counts then. The progress counts documents. `outcomes` is filled as by
// twindex_txn_insert_arrow; it and `counts` may be null.
//
// After an error, TWINDEX_INTERRUPTED included, the transaction has a part of the documents.
//
// Ownership: the caller releases `outcomes`, which is released already after an error. `*counts`
// belongs to the transaction, until the next call with it.
twindex_status twindex_txn_merge_unless_similar(twindex_txn *txn,
                                                const twindex_snapshot *source,
                                                const twindex_insertion *insertion,
                                                twindex_progress progress,
                                                void *data,
                                                ArrowArrayStream *outcomes,
                                                const twindex_counts **counts,
                                                twindex_error *error);

// Gives the pairs that are left as an Arrow stream with the columns `a`, `b`, `similarity`, `low`,
// `high` and `exact`. They are found while the stream is read. The handle remains, and is freed
// with twindex_pairs_free.
//
// Ownership: the caller releases `stream`, which is released already after an error.
twindex_status twindex_pairs_arrow(twindex_pairs *pairs,
                                   ArrowArrayStream *stream,
                                   twindex_error *error);

// Makes a sketcher from settings; null is all defaults.
//
// Ownership: the caller frees `*sketcher` with twindex_sketcher_free. It is null after an error.
twindex_status twindex_sketcher_new(const twindex_settings *settings,
                                    twindex_sketcher **sketcher,
                                    twindex_error *error);

// Makes the sketcher of an index, whose signatures that index takes.
//
// Ownership: the caller frees `*sketcher` with twindex_sketcher_free. It is null after an error.
twindex_status twindex_sketcher_of(const twindex_index *index,
                                   twindex_sketcher **sketcher,
                                   twindex_error *error);

// The length of a signature in bytes: a byte for each lane, and 4 for the size of the set. 0 for a
// null pointer.
size_t twindex_sketcher_signature_length(const twindex_sketcher *sketcher);

// Makes the signature of a text. `signature` has room for `capacity` bytes, at least
// twindex_sketcher_signature_length. The bytes are those that an index stores (docs/format.md); a
// program can keep them.
twindex_status twindex_sketch(const twindex_sketcher *sketcher,
                              const char *data,
                              size_t length,
                              uint8_t *signature,
                              size_t capacity,
                              twindex_error *error);

// Estimates the Jaccard similarity of the documents of two signatures, with its interval at a
// confidence, such as 0.95; 0 is that. All are 0 if a document has no shingles. Results whose
// pointers are null are left out. They are not set after an error.
twindex_status twindex_signature_similarity(const uint8_t *a,
                                            size_t a_length,
                                            const uint8_t *b,
                                            size_t b_length,
                                            double confidence,
                                            double *similarity,
                                            double *low,
                                            double *high,
                                            twindex_error *error);

// Compares two texts exactly: the Jaccard similarity of their shingles, the share of a that is in
// b, and the share of b that is in a. An empty text is similar to nothing. Not for weighted sets.
// Results whose pointers are null are left out. They are not set after an error.
twindex_status twindex_compare(const twindex_sketcher *sketcher,
                               const char *a,
                               size_t a_length,
                               const char *b,
                               size_t b_length,
                               double *similarity,
                               double *a_in_b,
                               double *b_in_a,
                               twindex_error *error);

// Frees a sketcher. Null is fine.
void twindex_sketcher_free(twindex_sketcher *sketcher);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TWINDEX_H */
