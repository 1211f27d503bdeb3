// Uses the library wrongly in every way that it promises to survive: each call returns a status and
// says what is wrong.

#include "arrow_table.h"
#include "checks.h"
#include <pthread.h>

static const char *const A = "the quick brown fox jumps over the lazy dog by the river bank";

// Every function with null for every argument.
static void nulls(void) {
    twindex_error_free(NULL);
    twindex_index_free(NULL);
    twindex_txn_free(NULL);
    twindex_snapshot_free(NULL);
    twindex_matches_free(NULL);
    twindex_pairs_free(NULL);
    twindex_ids_free(NULL);
    twindex_clusters_free(NULL);
    twindex_sketcher_free(NULL);
    twindex_document_free(NULL);
    twindex_report_free(NULL);
    twindex_passages_free(NULL);
    CHECK(twindex_passages_find(NULL, "a", 1, NULL, NULL, NULL) != TWINDEX_OK);
    CHECK(twindex_passages_count(NULL) == 0);
    CHECK(twindex_passages_at(NULL, 0) == NULL);
    CHECK(twindex_passages_passage(NULL, 0, 0) == NULL);
    CHECK(twindex_passages_left_out(NULL) == 0 && twindex_passages_limited(NULL) == 0);
    CHECK(twindex_error_status(NULL) == TWINDEX_OK);
    CHECK(equals(twindex_error_message(NULL), "") && equals(twindex_error_path(NULL), ""));
    CHECK(twindex_snapshot_count(NULL) == 0 && twindex_snapshot_commit_number(NULL) == 0);
    CHECK(twindex_matches_count(NULL) == 0 && twindex_matches_at(NULL, 0) == NULL);
    CHECK(twindex_matches_recall(NULL) == 0 && twindex_matches_left_out(NULL) == 0);
    CHECK(twindex_matches_limited(NULL) == 0);
    CHECK(twindex_clusters_count(NULL) == 0 && twindex_sketcher_signature_length(NULL) == 0);
    twindex_status statuses[] = {
        twindex_index_create(NULL, 1, NULL, NULL, NULL),
        twindex_index_open(NULL, 1, NULL, NULL, NULL),
        twindex_index_open_or_create(NULL, 1, NULL, NULL, NULL),
        twindex_index_open_read_only(NULL, TWINDEX_NUL, NULL, NULL, NULL),
        twindex_index_settings(NULL, NULL, NULL),
        twindex_index_close(NULL, NULL),
        twindex_index_check(NULL, NULL, NULL, NULL, NULL),
        twindex_index_compact(NULL, NULL, NULL, NULL),
        twindex_snapshot_take(NULL, NULL, NULL),
        twindex_snapshot_get(NULL, NULL, 1, NULL, NULL),
        twindex_snapshot_backup(NULL, NULL, 1, NULL, NULL, NULL),
        twindex_txn_begin(NULL, 0, NULL, NULL),
        twindex_txn_begin_within(NULL, 0, NULL, NULL),
        twindex_txn_insert(NULL, NULL, 1, NULL, 1, NULL, NULL, NULL),
        twindex_txn_insert_unless_similar(NULL, NULL, 1, NULL, 1, NULL, NULL, NULL),
        twindex_txn_insert_signature(NULL, NULL, 1, NULL, 1, NULL, NULL, NULL),
        twindex_txn_insert_arrow(NULL, NULL, NULL, NULL, NULL, NULL),
        twindex_txn_remove(NULL, NULL, 1, NULL, NULL),
        twindex_txn_merge(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL),
        twindex_txn_merge_unless_similar(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        twindex_txn_commit(NULL, NULL),
        twindex_txn_abort(NULL, NULL),
        twindex_query_text(NULL, NULL, 1, NULL, NULL, NULL),
        twindex_query_id(NULL, NULL, 1, NULL, NULL, NULL),
        twindex_query_signature(NULL, NULL, 1, NULL, NULL, NULL),
        twindex_pairs_open(NULL, NULL, NULL, NULL),
        twindex_pairs_next(NULL, NULL, NULL),
        twindex_pairs_arrow(NULL, NULL, NULL),
        twindex_ids_open(NULL, NULL, NULL),
        twindex_ids_next(NULL, NULL, NULL),
        twindex_clusters_find(NULL, NULL, NULL, NULL, NULL, NULL),
        twindex_clusters_at(NULL, 0, NULL, NULL),
        twindex_sketcher_of(NULL, NULL, NULL),
        twindex_sketch(NULL, NULL, 1, NULL, 0, NULL),
        twindex_signature_similarity(NULL, 1, NULL, 1, 0, NULL, NULL, NULL, NULL),
        twindex_compare(NULL, NULL, 1, NULL, 1, NULL, NULL, NULL, NULL),
        twindex_sketcher_new(NULL, NULL, NULL),
    };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i] != TWINDEX_MISUSE) {
            fprintf(stderr, "call %zu: status %d\n", i, (int)statuses[i]);
            exit(1);
        }
    }
}

static void bad_files(const char *folder, twindex_error *error) {
    twindex_index *index = (twindex_index *)&index;
    const char *missing = in_folder(folder, "missing.twx");
    FAILS(TWINDEX_NOT_FOUND, "no such index",
          twindex_index_open(missing, TWINDEX_NUL, NULL, &index, error));
    CHECK(index == NULL && equals(twindex_error_path(error), missing));
    const char *text = in_folder(folder, "text.txt");
    FILE *file = fopen(text, "w");
    fputs("this is a text file, and long enough to look at\n", file);
    fclose(file);
    FAILS(TWINDEX_UNSUPPORTED, "not a twindex index",
          twindex_index_open(text, TWINDEX_NUL, NULL, &index, error));
    FAILS(TWINDEX_ALREADY_EXISTS, "already exists",
          twindex_index_create(text, TWINDEX_NUL, NULL, &index, error));
    FAILS(TWINDEX_IO, "", twindex_index_create(in_folder(folder, "no/such/folder.twx"), TWINDEX_NUL,
                                               NULL, &index, error));
    CHECK(index == NULL);
}

static void bad_settings(const char *folder, twindex_error *error) {
    const char *path = in_folder(folder, "bad.twx");
    twindex_index *index;
    twindex_settings settings = {.size = 0};
    FAILS(TWINDEX_MISUSE, "twindex_settings.size is 0",
          twindex_index_create(path, TWINDEX_NUL, &settings, &index, error));
    // The size of a pointer.
    settings.size = sizeof(twindex_settings *);
    FAILS(TWINDEX_MISUSE, "set it to sizeof(twindex_settings)",
          twindex_index_create(path, TWINDEX_NUL, &settings, &index, error));
    settings.size = sizeof settings;
    settings.threshold = 2;
    FAILS(TWINDEX_INVALID_INPUT, "threshold 2",
          twindex_index_create(path, TWINDEX_NUL, &settings, &index, error));
    settings.threshold = 0;
    settings.shingle = "sentence:2";
    FAILS(TWINDEX_INVALID_INPUT, "shingle sentence:2",
          twindex_index_create(path, TWINDEX_NUL, &settings, &index, error));
    settings.shingle = "char:\xff";
    FAILS(TWINDEX_MISUSE, "not valid UTF-8 at byte 6",
          twindex_index_create(path, TWINDEX_NUL, &settings, &index, error));
    settings.shingle = NULL;
    settings.store_text = 7;
    FAILS(TWINDEX_INVALID_INPUT, "store_text 7",
          twindex_index_create(path, TWINDEX_NUL, &settings, &index, error));
    // A newer program sets a field that this library does not know.
    struct {
        twindex_settings known;
        uint64_t unknown;
    } newer = {.known = {.size = sizeof newer}, .unknown = 1};
    FAILS(TWINDEX_MISUSE, "does not know",
          twindex_index_create(path, TWINDEX_NUL, &newer.known, &index, error));
    newer.unknown = 0;
    OK(twindex_index_create(path, TWINDEX_NUL, &newer.known, &index, error));
    twindex_index_free(index);
    twindex_settings other = {.size = sizeof other, .lanes = 64};
    FAILS(TWINDEX_MISMATCH, "created with lanes 256, not 64",
          twindex_index_open(path, TWINDEX_NUL, &other, &index, error));
}

static int stop(void *data, uint64_t done, uint64_t total) {
    (void)data, (void)done, (void)total;
    return 1;
}

static int fail_and_stop(void *data, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    twindex_error *error = data;
    FAILS(TWINDEX_MISUSE, "index is a null pointer", twindex_index_close(NULL, error));
    return 1;
}

// Uses the handles that are at work.
typedef struct busy {
    twindex_index *index;
    twindex_txn *txn;
    int called;
} busy;

static int use_again(void *data, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    busy *with = data;
    with->called = 1;
    twindex_error *error = twindex_error_new();
    if (with->txn) {
        FAILS(TWINDEX_BUSY, "another call uses the transaction", twindex_txn_commit(with->txn, error));
        FAILS(TWINDEX_BUSY, "another call uses the transaction",
              twindex_txn_insert(with->txn, "x", 1, A, TWINDEX_NUL, NULL, NULL, error));
    } else {
        twindex_snapshot *snapshot;
        FAILS(TWINDEX_BUSY, "is being compacted",
              twindex_snapshot_take(with->index, &snapshot, error));
        CHECK(snapshot == NULL);
        FAILS(TWINDEX_BUSY, "another call uses the index", twindex_index_close(with->index, error));
    }
    twindex_error_free(error);
    return 0;
}

static void *insert_elsewhere(void *data) {
    use_again(data, 0, 0);
    return NULL;
}

static int use_elsewhere(void *data, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, insert_elsewhere, data));
    CHECK(!pthread_join(thread, NULL));
    return 0;
}

static void bad_documents(twindex_index *index, twindex_error *error) {
    twindex_txn *txn;
    OK(twindex_txn_begin(index, 1, &txn, error));
    const twindex_outcome *outcome;
    FAILS(TWINDEX_INVALID_INPUT, "id of 0 bytes",
          twindex_txn_insert(txn, "", 0, A, TWINDEX_NUL, NULL, &outcome, error));
    FAILS(TWINDEX_MISUSE, "text: not valid UTF-8 at byte 3",
          twindex_txn_insert(txn, "a", 1, "ab\xff", 3, NULL, &outcome, error));
    FAILS(TWINDEX_MISUSE, "no possible length",
          twindex_txn_insert(txn, "a", 1, A, SIZE_MAX - 1, NULL, &outcome, error));
    FAILS(TWINDEX_MISUSE, "text is a null pointer",
          twindex_txn_insert(txn, "a", 1, NULL, 3, NULL, &outcome, error));
    // A null pointer is fine for nothing.
    OK(twindex_txn_insert(txn, "empty", TWINDEX_NUL, NULL, 0, NULL, &outcome, error));
    twindex_insertion wrong = {.size = sizeof wrong, .on_conflict = 9};
    FAILS(TWINDEX_INVALID_INPUT, "on_conflict 9",
          twindex_txn_insert(txn, "a", 1, A, TWINDEX_NUL, &wrong, &outcome, error));
    const twindex_snapshot *none[] = {NULL};
    twindex_insertion against = {.size = sizeof against, .against = none, .against_count = 1};
    FAILS(TWINDEX_MISUSE, "a snapshot of against is a null pointer",
          twindex_txn_insert_unless_similar(txn, "a", 1, A, TWINDEX_NUL, &against, &outcome, error));
    CHECK(outcome == NULL);
    uint8_t signature[68] = {0};
    FAILS(TWINDEX_MISUSE, "a signature needs its length",
          twindex_txn_insert_signature(txn, "a", 1, signature, TWINDEX_NUL, NULL, &outcome, error));
    FAILS(TWINDEX_INVALID_INPUT, "10 bytes are no signature",
          twindex_txn_insert_signature(txn, "a", 1, signature, 10, NULL, &outcome, error));
    FAILS(TWINDEX_INVALID_INPUT, "no signature",
          twindex_txn_insert_signature(txn, "a", 1, signature, 66, NULL, &outcome, error));
    signature[64] = 5;
    FAILS(TWINDEX_MISMATCH, "signature of 64 lanes",
          twindex_txn_insert_signature(txn, "a", 1, signature, 68, NULL, &outcome, error));

    const char *ids[] = {"1", "2"};
    const void *texts[] = {A, "not \xff UTF-8"};
    struct ArrowArrayStream stream = stream_of((table){ids, texts, 2, 0, "text", 0, 0}), told;
    const twindex_counts *counts;
    FAILS(TWINDEX_INVALID_INPUT, "row 1, counted from 0: not valid UTF-8",
          twindex_txn_insert_arrow(txn, &stream, NULL, &told, &counts, error));
    CHECK(stream.release == NULL && told.release == NULL && counts->added == 0);
    stream = stream_of((table){ids, texts, 1, 0, "text", 0, 0});
    twindex_insertion named = {.size = sizeof named, .id_column = "docid"};
    FAILS(TWINDEX_INVALID_INPUT, "no column \"docid\": there are id, text",
          twindex_txn_insert_arrow(txn, &stream, &named, &told, &counts, error));
    stream = stream_of((table){ids, texts, 1, 0, "text", 0, 0});
    CHECK(twindex_txn_insert_arrow(NULL, &stream, NULL, &told, &counts, error) == TWINDEX_MISUSE);
    CHECK(stream.release == NULL && counts == NULL);
    FAILS(TWINDEX_INVALID_INPUT, "stream",
          twindex_txn_insert_arrow(txn, &stream, NULL, NULL, NULL, error));
    stream = stream_of((table){ids, texts, 2, 0, "body", 0, 0});
    FAILS(TWINDEX_INVALID_INPUT, "no column \"text\": there are id, body",
          twindex_txn_insert_arrow(txn, &stream, NULL, &told, NULL, error));
    stream = stream_of((table){ids, texts, 2, 0, "te\xffxt", 0, 0});
    FAILS(TWINDEX_INVALID_INPUT, "the Arrow stream cannot be read",
          twindex_txn_insert_arrow(txn, &stream, NULL, &told, NULL, error));
    CHECK(stream.release == NULL && told.release == NULL);
    stream = stream_of((table){ids, texts, 2, 0, "text", 1, 0});
    FAILS(TWINDEX_INVALID_INPUT, "the table cannot be read",
          twindex_txn_insert_arrow(txn, &stream, NULL, &told, NULL, error));
    twindex_insertion sketched = {.size = sizeof sketched, .signature_column = "text"};
    stream = stream_of((table){ids, texts, 2, 0, "text", 0, 0});
    FAILS(TWINDEX_INVALID_INPUT, "expected fixed-size binary",
          twindex_txn_insert_arrow(txn, &stream, &sketched, &told, NULL, error));
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);
}

// Takes over another index: an error before it begins changes nothing, and one after that ends it.
static void attachment_of(const twindex_snapshot *source, const char *folder,
                          twindex_error *error) {
    twindex_index *index;
    twindex_txn *txn;
    twindex_settings other = {.size = sizeof other, .lanes = 64};
    OK(twindex_index_create(in_folder(folder, "lanes.twx"), TWINDEX_NUL, &other, &index, error));
    OK(twindex_txn_begin(index, 1, &txn, error));
    FAILS(TWINDEX_MISMATCH, "lanes is 256",
          twindex_txn_merge(txn, source, 0, 1, NULL, NULL, NULL, error));
    FAILS(TWINDEX_INVALID_INPUT, "on_conflict 9",
          twindex_txn_merge(txn, source, 9, 1, NULL, NULL, NULL, error));
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);
    twindex_index_free(index);
    OK(twindex_index_create(in_folder(folder, "attached.twx"), TWINDEX_NUL, NULL, &index, error));
    OK(twindex_txn_begin(index, 1, &txn, error));
    FAILS(TWINDEX_INTERRUPTED, "cannot be committed",
          twindex_txn_merge(txn, source, 0, 1, stop, NULL, NULL, error));
    FAILS(TWINDEX_IO, "a change of this transaction failed", twindex_txn_commit(txn, error));
    twindex_txn_free(txn);
    twindex_index_free(index);
}

static void ended_handles(const char *folder, twindex_error *error) {
    twindex_index *index;
    OK(twindex_index_create(in_folder(folder, "ended.twx"), TWINDEX_NUL, NULL, &index, error));
    bad_documents(index, error);
    twindex_txn *txn, *second;
    OK(twindex_txn_begin(index, 1, &txn, error));
    FAILS(TWINDEX_BUSY, "", twindex_txn_begin(index, 0, &second, error));
    CHECK(second == NULL);
    FAILS(TWINDEX_BUSY, "", twindex_txn_begin(index, 1, &second, error));
    FAILS(TWINDEX_BUSY, "", twindex_txn_begin_within(index, 3600000, &second, error));
    FAILS(TWINDEX_MISUSE, "wait is 2: expected 0 or 1",
          twindex_txn_begin(index, TWINDEX_NO, &second, error));
    FAILS(TWINDEX_BUSY, "", twindex_index_close(index, error));
    FAILS(TWINDEX_BUSY, "", twindex_index_compact(index, NULL, NULL, error));
    OK(twindex_txn_insert(txn, "a", 1, A, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_commit(txn, error));
    FAILS(TWINDEX_CLOSED, "the transaction has ended", twindex_txn_commit(txn, error));
    FAILS(TWINDEX_CLOSED, "the transaction has ended", twindex_txn_abort(txn, error));
    FAILS(TWINDEX_CLOSED, "the transaction has ended",
          twindex_txn_insert(txn, "b", 1, A, TWINDEX_NUL, NULL, NULL, error));
    FAILS(TWINDEX_CLOSED, "the transaction has ended", twindex_txn_remove(txn, "b", 1, NULL, error));
    twindex_txn_free(txn);

    twindex_snapshot *snapshot;
    OK(twindex_snapshot_take(index, &snapshot, error));
    FAILS(TWINDEX_BUSY, "snapshots in use: 1", twindex_index_compact(index, NULL, NULL, error));
    // From within a call, and from another thread meanwhile.
    busy with = {NULL, NULL, 0};
    OK(twindex_txn_begin(index, 1, &with.txn, error));
    OK(twindex_txn_merge(with.txn, snapshot, 0, 0, use_again, &with, NULL, error));
    CHECK(with.called);
    with.called = 0;
    OK(twindex_txn_merge(with.txn, snapshot, 0, 0, use_elsewhere, &with, NULL, error));
    CHECK(with.called);
    FAILS(TWINDEX_INTERRUPTED, "was interrupted",
          twindex_txn_merge(with.txn, snapshot, 0, 0, stop, NULL, NULL, error));
    attachment_of(snapshot, folder, error);
    OK(twindex_txn_abort(with.txn, error));
    twindex_txn_free(with.txn);
    twindex_matches *matches;
    twindex_query query = {.size = sizeof query, .threshold = -1};
    FAILS(TWINDEX_INVALID_INPUT, "threshold -1",
          twindex_query_text(snapshot, A, TWINDEX_NUL, &query, &matches, error));
    CHECK(matches == NULL);
    twindex_pairs *pairs;
    twindex_pairs_options none = {.size = sizeof none, .threshold = 5};
    FAILS(TWINDEX_INVALID_INPUT, "threshold 5", twindex_pairs_open(snapshot, &none, &pairs, error));
    OK(twindex_pairs_open(snapshot, NULL, &pairs, error));
    struct ArrowArrayStream stream;
    OK(twindex_pairs_arrow(pairs, &stream, error));
    const twindex_pair *pair;
    FAILS(TWINDEX_CLOSED, "taken over", twindex_pairs_next(pairs, &pair, error));
    stream.release(&stream);
    FAILS(TWINDEX_CLOSED, "taken over", twindex_pairs_arrow(pairs, &stream, error));
    CHECK(stream.release == NULL);
    twindex_pairs_free(pairs);
    twindex_clusters *clusters;
    twindex_clusters_options odd = {.size = sizeof odd, .linkage = 3};
    FAILS(TWINDEX_INVALID_INPUT, "linkage 3",
          twindex_clusters_find(snapshot, &odd, NULL, NULL, &clusters, error));
    FAILS(TWINDEX_INTERRUPTED, "",
          twindex_clusters_find(snapshot, NULL, stop, NULL, &clusters, error));
    FAILS(TWINDEX_ALREADY_EXISTS, "",
          twindex_snapshot_backup(snapshot, in_folder(folder, "ended.twx"), TWINDEX_NUL, NULL, NULL,
                                  error));
    twindex_snapshot_free(snapshot);

    // One error for a call and for those of its progress function.
    OK(twindex_txn_begin(index, 1, &with.txn, error));
    OK(twindex_snapshot_take(index, &snapshot, error));
    FAILS(TWINDEX_INTERRUPTED, "was interrupted",
          twindex_txn_merge(with.txn, snapshot, 0, 0, fail_and_stop, error, NULL, error));
    FAILS(TWINDEX_MISUSE, "attach is 2",
          twindex_txn_merge(with.txn, snapshot, 0, 2, NULL, NULL, NULL, error));
    struct ArrowArrayStream told;
    const twindex_counts *counts;
    twindex_insertion wrong = {.size = sizeof wrong, .unless_similar = 2.0};
    FAILS(TWINDEX_INVALID_INPUT, "threshold 2",
          twindex_txn_merge_unless_similar(with.txn, snapshot, &wrong, NULL, NULL, &told, &counts,
                                           error));
    CHECK(told.release == NULL && counts == NULL);
    memset(&told, 1, sizeof told);
    FAILS(TWINDEX_MISUSE, "source",
          twindex_txn_merge_unless_similar(with.txn, NULL, NULL, NULL, NULL, &told, &counts,
                                           error));
    CHECK(told.release == NULL && counts == NULL);
    twindex_snapshot_free(snapshot);
    twindex_txn_free(with.txn);

    with = (busy){index, NULL, 0};
    OK(twindex_index_compact(index, use_again, &with, error));
    CHECK(with.called);
    OK(twindex_index_close(index, error));
    FAILS(TWINDEX_CLOSED, "the index was closed", twindex_index_close(index, error));
    FAILS(TWINDEX_CLOSED, "the index was closed", twindex_snapshot_take(index, &snapshot, error));
    FAILS(TWINDEX_CLOSED, "the index was closed", twindex_txn_begin(index, 1, &txn, error));
    FAILS(TWINDEX_CLOSED, "the index was closed", twindex_index_compact(index, NULL, NULL, error));
    const twindex_report *report;
    FAILS(TWINDEX_CLOSED, "the index was closed",
          twindex_index_check(index, NULL, NULL, &report, error));
    CHECK(report == NULL);
    twindex_sketcher *sketcher;
    FAILS(TWINDEX_CLOSED, "the index was closed", twindex_sketcher_of(index, &sketcher, error));
    twindex_index_free(index);

    OK(twindex_index_open_read_only(in_folder(folder, "ended.twx"), TWINDEX_NUL, NULL, &index,
                                    error));
    FAILS(TWINDEX_INVALID_INPUT, "opened for reading only", twindex_txn_begin(index, 1, &txn, error));
    FAILS(TWINDEX_INVALID_INPUT, "opened for reading only",
          twindex_index_compact(index, NULL, NULL, error));
    twindex_index_free(index);

    OK(twindex_sketcher_new(NULL, &sketcher, error));
    uint8_t small[10];
    FAILS(TWINDEX_MISUSE, "room for 10 bytes, but a signature has 260",
          twindex_sketch(sketcher, A, TWINDEX_NUL, small, sizeof small, error));
    twindex_sketcher_free(sketcher);
}

static void moved_file(const char *folder, twindex_error *error) {
    const char *path = in_folder(folder, "moved.twx");
    twindex_index *index;
    OK(twindex_index_create(path, TWINDEX_NUL, NULL, &index, error));
    twindex_txn *txn;
    OK(twindex_txn_begin(index, 1, &txn, error));
    OK(twindex_txn_insert(txn, "a", 1, A, TWINDEX_NUL, NULL, NULL, error));
    CHECK(rename(path, in_folder(folder, "elsewhere.twx")) == 0);
    FAILS(TWINDEX_MOVED, "was moved, deleted or replaced", twindex_txn_commit(txn, error));
    CHECK(equals(twindex_error_path(error), path));
    twindex_txn_free(txn);
    FAILS(TWINDEX_MOVED, "was moved, deleted or replaced", twindex_index_close(index, error));
    FAILS(TWINDEX_CLOSED, "the index was closed", twindex_index_close(index, error));
    twindex_index_free(index);
    OK(twindex_index_open(in_folder(folder, "elsewhere.twx"), TWINDEX_NUL, NULL, &index, error));
    twindex_index_free(index);
}

static void damage(const char *folder, twindex_error *error) {
    const char *path = in_folder(folder, "damaged.twx");
    twindex_index *index;
    OK(twindex_index_create(path, TWINDEX_NUL, NULL, &index, error));
    twindex_txn *txn;
    OK(twindex_txn_begin(index, 1, &txn, error));
    for (int i = 0; i < 200; i++) {
        char text[200];
        int length = snprintf(text, sizeof text, "document %d, which says %d and %d", i, i * i, i * 7);
        OK(twindex_txn_insert(txn, text, 12, text, (size_t)length, NULL, NULL, error));
    }
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);
    OK(twindex_index_close(index, error));
    twindex_index_free(index);
    // Damages every page but the first, one byte in each.
    FILE *file = fopen(path, "r+b");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    for (long at = 4096 + 1000; at < size; at += 4096) {
        fseek(file, at, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 0x5a, file);
    }
    fclose(file);
    twindex_status status = twindex_index_open(path, TWINDEX_NUL, NULL, &index, error);
    if (status == TWINDEX_OK) {
        const twindex_report *report = NULL;
        status = twindex_index_check(index, NULL, NULL, &report, error);
        CHECK(status != TWINDEX_OK || report->violation_count > 0);
        if (report && report->violations_listed > 0) {
            CHECK(report->violations[0].length > 0);
        }
        twindex_report_free(report);
        twindex_index_free(index);
    }
    CHECK(status != TWINDEX_DEFECT);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    twindex_error *error = twindex_error_new();
    nulls();
    bad_files(argv[1], error);
    bad_settings(argv[1], error);
    ended_handles(argv[1], error);
    moved_file(argv[1], error);
    damage(argv[1], error);
    twindex_error_free(error);
    puts("all as it should be");
    return 0;
}
