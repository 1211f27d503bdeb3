// Uses every function of the library as it is meant to be used. Run under valgrind and
// AddressSanitizer.

#include "arrow_table.h"
#include "checks.h"
#include <pthread.h>

static const char *const A = "the quick brown fox jumps over the lazy dog by the river bank";
static const char *const B = "the quick brown fox jumps over the lazy dog by the river banks";
static const char *const C = "something else, about the weather in the north of the country";

static int calls;

static int count_calls(void *data, uint64_t done, uint64_t total) {
    CHECK(data == &calls);
    CHECK(done <= total || total == 0);
    calls++;
    return 0;
}

static twindex_index *create(const char *path, const twindex_settings *settings,
                             twindex_error *error) {
    twindex_index *index;
    OK(twindex_index_create(path, TWINDEX_NUL, settings, &index, error));
    return index;
}

static void settings_are_kept(const char *folder, twindex_error *error) {
    twindex_settings settings = {.size = sizeof settings};
    settings.threshold = 0.7;
    settings.recall = 0.9;
    settings.shingle = "word:2";
    settings.normalization = "nfkc,space";
    settings.lanes = 128;
    settings.multiset = TWINDEX_YES;
    settings.seed = 7;
    settings.cache_bytes = 1 << 20;
    settings.flush_documents = 16;
    settings.merge_runs = 3;
    settings.wait_ms = 1;
    twindex_index *index = create(in_folder(folder, "settings.twx"), &settings, error);
    twindex_settings kept = {.size = sizeof kept};
    OK(twindex_index_settings(index, &kept, error));
    CHECK(kept.threshold == 0.7 && kept.recall == 0.9 && kept.lanes == 128 && kept.seed == 7);
    CHECK(!strcmp(kept.shingle, "word:2") && !strcmp(kept.normalization, "nfkc,space"));
    CHECK(kept.multiset == TWINDEX_YES && kept.store_text == TWINDEX_NO);
    CHECK(kept.weighted == TWINDEX_NO && kept.cache_bytes == 0);

    // A program that was built with a newer header knows more fields.
    struct {
        twindex_settings known;
        uint64_t unknown;
    } newer = {.known = {.size = sizeof newer}, .unknown = 7};
    OK(twindex_index_settings(index, &newer.known, error));
    CHECK(newer.known.threshold == 0.7 && newer.known.lanes == 128 && newer.unknown == 0);
    OK(twindex_index_close(index, error));
    // The settings of a closed index can still be read.
    OK(twindex_index_settings(index, &kept, error));
    twindex_index_free(index);

    // The texts of the settings belonged to the index.
    newer.known.shingle = newer.known.normalization = NULL;
    OK(twindex_index_open(in_folder(folder, "settings.twx"), TWINDEX_NUL, &newer.known, &index,
                          error));
    twindex_index_free(index);
    twindex_settings random = {.size = sizeof random, .random_seed = TWINDEX_YES};
    twindex_index_free(create(in_folder(folder, "random.twx"), &random, error));
}

static void documents_go_in_and_out(const char *folder, twindex_error *error) {
    const char *path = in_folder(folder, "documents.twx");
    twindex_index *index;
    OK(twindex_index_open_or_create(path, strlen(path), NULL, &index, error));
    twindex_txn *txn;
    OK(twindex_txn_begin(index, 1, &txn, error));
    const twindex_outcome *outcome;
    OK(twindex_txn_insert(txn, "a", 1, A, strlen(A), NULL, &outcome, error));
    CHECK(outcome->what == TWINDEX_ADDED && outcome->similar == NULL && outcome->against == -1);
    OK(twindex_txn_insert(txn, "a", 1, A, TWINDEX_NUL, NULL, &outcome, error));
    CHECK(outcome->what == TWINDEX_UNCHANGED);
    OK(twindex_txn_insert(txn, "a", 1, C, TWINDEX_NUL, NULL, &outcome, error));
    CHECK(outcome->what == TWINDEX_REPLACED);
    OK(twindex_txn_insert(txn, "a", 1, A, TWINDEX_NUL, NULL, NULL, error));
    twindex_insertion skip = {.size = sizeof skip, .on_conflict = TWINDEX_ON_CONFLICT_SKIP};
    OK(twindex_txn_insert(txn, "a", 1, C, TWINDEX_NUL, &skip, &outcome, error));
    CHECK(outcome->what == TWINDEX_SKIPPED);
    OK(twindex_txn_insert_unless_similar(txn, "b", 1, B, TWINDEX_NUL, NULL, &outcome, error));
    CHECK(outcome->what == TWINDEX_DUPLICATE && outcome->against == -1);
    CHECK(equals(outcome->similar->id, "a") && outcome->similar->similarity > 0.8);
    CHECK(outcome->similar->containment == -1);
    // Ids and texts may hold NULs.
    OK(twindex_txn_insert(txn, "x\0y", 3, "one\0two", 7, NULL, &outcome, error));
    CHECK(outcome->what == TWINDEX_ADDED);
    int32_t removed;
    OK(twindex_txn_remove(txn, "nothing", TWINDEX_NUL, &removed, error));
    CHECK(removed == 0);
    OK(twindex_txn_insert(txn, "gone", TWINDEX_NUL, C, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_remove(txn, "gone", TWINDEX_NUL, &removed, error));
    CHECK(removed == 1);
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);

    OK(twindex_txn_begin(index, 0, &txn, error));
    OK(twindex_txn_insert(txn, "undone", TWINDEX_NUL, C, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_abort(txn, error));
    twindex_txn_free(txn);
    OK(twindex_txn_begin(index, 0, &txn, error));
    OK(twindex_txn_insert(txn, "undone", TWINDEX_NUL, C, TWINDEX_NUL, NULL, NULL, error));
    twindex_txn_free(txn);

    twindex_snapshot *snapshot;
    OK(twindex_snapshot_take(index, &snapshot, error));
    CHECK(twindex_snapshot_count(snapshot) == 2 && twindex_snapshot_commit_number(snapshot) > 0);
    const twindex_document *document;
    OK(twindex_snapshot_get(snapshot, "x\0y", 3, &document, error));
    CHECK(document->id.length == 3 && !memcmp(document->id.data, "x\0y", 4));
    CHECK(document->text_bytes == 7 && document->text.length == 0 && document->inserted > 0);
    CHECK(document->signature.length == 260 && document->shingles >= 1);
    twindex_document_free(document);
    OK(twindex_snapshot_get(snapshot, "undone", TWINDEX_NUL, &document, error));
    CHECK(document == NULL);

    twindex_ids *ids;
    twindex_string id;
    OK(twindex_ids_open(snapshot, &ids, error));
    OK(twindex_ids_next(ids, &id, error));
    CHECK(equals(id, "a"));
    OK(twindex_ids_next(ids, &id, error));
    CHECK(id.length == 3);
    OK(twindex_ids_next(ids, &id, error));
    CHECK(id.length == 0);
    twindex_ids_free(ids);
    twindex_snapshot_free(snapshot);
    twindex_index_free(index);
}

static void similar_documents_are_found(const char *folder, twindex_error *error) {
    twindex_settings settings = {.size = sizeof settings, .store_text = TWINDEX_YES};
    twindex_index *index = create(in_folder(folder, "similar.twx"), &settings, error);
    twindex_txn *txn;
    OK(twindex_txn_begin(index, 1, &txn, error));
    OK(twindex_txn_insert(txn, "a", 1, A, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_insert(txn, "b", 1, B, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_insert(txn, "c", 1, C, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);
    twindex_snapshot *snapshot;
    OK(twindex_snapshot_take(index, &snapshot, error));

    twindex_matches *matches;
    OK(twindex_query_text(snapshot, A, TWINDEX_NUL, NULL, &matches, error));
    CHECK(twindex_matches_count(matches) == 2 && twindex_matches_recall(matches) > 0.9);
    CHECK(twindex_matches_left_out(matches) == 0);
    const twindex_match *match = twindex_matches_at(matches, 0);
    CHECK(equals(match->id, "a") && match->similarity == 1 && match->exact == 1);
    match = twindex_matches_at(matches, 1);
    CHECK(equals(match->id, "b") && match->low == match->similarity && match->high < 1);
    CHECK(twindex_matches_at(matches, 2) == NULL);
    twindex_matches_free(matches);

    twindex_query query = {.size = sizeof query, .limit = 1, .confidence = 0.9, .recall = 0.9};
    OK(twindex_query_text(snapshot, A, TWINDEX_NUL, &query, &matches, error));
    CHECK(twindex_matches_count(matches) == 1 && twindex_matches_left_out(matches) == 1);
    twindex_matches_free(matches);
    twindex_query few = {.size = sizeof few, .max_candidates = 1};
    OK(twindex_query_text(snapshot, A, TWINDEX_NUL, &few, &matches, error));
    CHECK(twindex_matches_count(matches) == 1 && twindex_matches_limited(matches) == 1);
    twindex_matches_free(matches);
    few.max_candidates = 100;
    OK(twindex_query_text(snapshot, A, TWINDEX_NUL, &few, &matches, error));
    CHECK(twindex_matches_count(matches) == 2 && twindex_matches_limited(matches) == 0);
    twindex_matches_free(matches);
    twindex_query others = {.size = sizeof others, .excluded = "a"};
    others.estimate = TWINDEX_YES;
    others.scan = TWINDEX_YES;
    OK(twindex_query_text(snapshot, A, TWINDEX_NUL, &others, &matches, error));
    CHECK(twindex_matches_count(matches) == 1 && twindex_matches_at(matches, 0)->exact == 0);
    twindex_matches_free(matches);
    twindex_query nearest = {.size = sizeof nearest, .threshold = 0.1, .top = 1};
    OK(twindex_query_text(snapshot, B, TWINDEX_NUL, &nearest, &matches, error));
    CHECK(equals(twindex_matches_at(matches, 0)->id, "b"));
    twindex_matches_free(matches);
    twindex_query part = {.size = sizeof part, .threshold = 0.9, .containment = TWINDEX_YES};
    OK(twindex_query_text(snapshot, "jumps over the lazy dog by the river", TWINDEX_NUL, &part,
                          &matches, error));
    CHECK(twindex_matches_count(matches) == 2 && twindex_matches_at(matches, 0)->containment == 1);
    twindex_matches_free(matches);
    twindex_query all = {.size = sizeof all, .all_candidates = TWINDEX_YES};
    OK(twindex_query_id(snapshot, "a", 1, &all, &matches, error));
    CHECK(twindex_matches_count(matches) >= 1 && equals(twindex_matches_at(matches, 0)->id, "b"));
    twindex_matches_free(matches);
    OK(twindex_query_id(snapshot, "nothing", TWINDEX_NUL, NULL, &matches, error));
    CHECK(matches == NULL);
    const twindex_document *document;
    OK(twindex_snapshot_get(snapshot, "a", 1, &document, error));
    CHECK(equals(document->text, A));
    OK(twindex_query_signature(snapshot, (const uint8_t *)document->signature.data,
                               document->signature.length, NULL, &matches, error));
    CHECK(twindex_matches_count(matches) == 2 && twindex_matches_at(matches, 0)->similarity == 1);
    twindex_matches_free(matches);
    twindex_document_free(document);

    twindex_pairs *pairs;
    const twindex_pair *pair;
    OK(twindex_pairs_open(snapshot, NULL, &pairs, error));
    OK(twindex_pairs_next(pairs, &pair, error));
    CHECK(equals(pair->a, "a") && equals(pair->b, "b") && pair->exact == 1);
    CHECK(pair->similarity > 0.8 && pair->low == pair->high);
    OK(twindex_pairs_next(pairs, &pair, error));
    CHECK(pair == NULL);
    OK(twindex_pairs_next(pairs, &pair, error));
    CHECK(pair == NULL);
    twindex_pairs_free(pairs);
    twindex_pairs_options low = {.size = sizeof low, .threshold = 0.5, .confidence = 0.9};
    low.max_per_document = 1;
    low.estimate = TWINDEX_YES;
    OK(twindex_pairs_open(snapshot, &low, &pairs, error));
    struct ArrowArrayStream stream;
    OK(twindex_pairs_arrow(pairs, &stream, error));
    struct ArrowSchema schema;
    struct ArrowArray batch;
    CHECK(stream.get_schema(&stream, &schema) == 0);
    CHECK(schema.n_children == 6 && !strcmp(schema.children[2]->name, "similarity"));
    schema.release(&schema);
    CHECK(stream.get_next(&stream, &batch) == 0 && batch.length == 1);
    CHECK(text_is(batch.children[0], 0, "a") && text_is(batch.children[1], 0, "b"));
    batch.release(&batch);
    CHECK(stream.get_next(&stream, &batch) == 0 && batch.release == NULL);
    stream.release(&stream);
    twindex_pairs_free(pairs);

    twindex_clusters *clusters;
    const twindex_cluster *cluster;
    twindex_clusters_options longest = {.size = sizeof longest, .threshold = 0.7};
    longest.keep = TWINDEX_KEEP_LONGEST;
    longest.linkage = TWINDEX_LINKAGE_CONNECTED;
    OK(twindex_clusters_find(snapshot, &longest, count_calls, &calls, &clusters, error));
    CHECK(twindex_clusters_count(clusters) == 1);
    // The clusters keep what they need of the index.
    twindex_snapshot_free(snapshot);
    twindex_index_free(index);
    OK(twindex_clusters_at(clusters, 0, &cluster, error));
    CHECK(equals(cluster->representative, "b") && cluster->member_count == 2);
    CHECK(equals(cluster->members[0], "a") && equals(cluster->members[1], "b"));
    OK(twindex_clusters_at(clusters, 1, &cluster, error));
    CHECK(cluster == NULL);
    twindex_clusters_free(clusters);
}

static void batches_go_in(const char *folder, twindex_error *error) {
    twindex_index *index = create(in_folder(folder, "batches.twx"), NULL, error);
    twindex_txn *txn;
    OK(twindex_txn_begin(index, 1, &txn, error));
    const char *ids[] = {"1", "2", "3"};
    const void *texts[] = {A, B, C};
    struct ArrowArrayStream stream = stream_of((table){ids, texts, 3, 0, "text", 0, 0}), told;
    const twindex_counts *counts;
    twindex_insertion apart = {.size = sizeof apart, .unless_similar = 0.8};
    OK(twindex_txn_insert_arrow(txn, &stream, &apart, &told, &counts, error));
    CHECK(stream.release == NULL);
    CHECK(counts->added == 2 && counts->duplicates == 1 && counts->replaced == 0);
    struct ArrowArray batch;
    CHECK(told.get_next(&told, &batch) == 0 && batch.length == 3);
    CHECK(text_is(batch.children[0], 1, "2") && text_is(batch.children[1], 1, "duplicate"));
    CHECK(text_is(batch.children[2], 1, "1") && text_is(batch.children[1], 2, "added"));
    batch.release(&batch);
    told.release(&told);
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);

    twindex_sketcher *sketcher;
    OK(twindex_sketcher_of(index, &sketcher, error));
    size_t width = twindex_sketcher_signature_length(sketcher);
    CHECK(width == 260);
    uint8_t a[260], b[260], c[260];
    OK(twindex_sketch(sketcher, A, TWINDEX_NUL, a, sizeof a, error));
    OK(twindex_sketch(sketcher, B, TWINDEX_NUL, b, sizeof b, error));
    OK(twindex_sketch(sketcher, C, TWINDEX_NUL, c, sizeof c, error));
    double similarity, low, high, a_in_b, b_in_a;
    OK(twindex_signature_similarity(a, width, b, width, 0, &similarity, &low, &high, error));
    CHECK(similarity > 0.8 && low < similarity && similarity < high);
    OK(twindex_signature_similarity(a, width, c, width, 0.99, &similarity, NULL, NULL, error));
    CHECK(similarity < 0.1);
    OK(twindex_compare(sketcher, A, TWINDEX_NUL, B, TWINDEX_NUL, &similarity, &a_in_b, &b_in_a,
                       error));
    CHECK(a_in_b == 1 && b_in_a < 1 && similarity == b_in_a);
    OK(twindex_compare(sketcher, "", 0, B, TWINDEX_NUL, &similarity, NULL, NULL, error));
    CHECK(similarity == 0);
    twindex_sketcher_free(sketcher);
    OK(twindex_sketcher_new(NULL, &sketcher, error));
    uint8_t again[300];
    OK(twindex_sketch(sketcher, A, TWINDEX_NUL, again, sizeof again, error));
    CHECK(!memcmp(again, a, width));
    twindex_sketcher_free(sketcher);

    OK(twindex_txn_begin(index, 1, &txn, error));
    const void *signatures[] = {a, b, c};
    stream = stream_of((table){ids, signatures, 3, (int)width, "sketch", 0, 0});
    twindex_insertion sketched = {.size = sizeof sketched, .signature_column = "sketch"};
    sketched.on_conflict = TWINDEX_ON_CONFLICT_SKIP;
    OK(twindex_txn_insert_arrow(txn, &stream, &sketched, NULL, &counts, error));
    CHECK(counts->added == 1 && counts->skipped == 2);
    const twindex_outcome *outcome;
    OK(twindex_txn_insert_signature(txn, "4", 1, c, width, NULL, &outcome, error));
    CHECK(outcome->what == TWINDEX_ADDED);
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);

    // A second index, which is compared with the first and then takes it in.
    twindex_index *other = create(in_folder(folder, "other.twx"), NULL, error);
    twindex_snapshot *first;
    OK(twindex_snapshot_take(index, &first, error));
    OK(twindex_txn_begin(other, 1, &txn, error));
    const twindex_snapshot *known[] = {first};
    twindex_insertion unknown = {.size = sizeof unknown, .against = known, .against_count = 1};
    unknown.max_candidates = 10;
    OK(twindex_txn_insert_unless_similar(txn, "5", 1, A, TWINDEX_NUL, &unknown, &outcome, error));
    CHECK(outcome->what == TWINDEX_DUPLICATE && outcome->against == 0);
    CHECK(equals(outcome->similar->id, "1"));
    OK(twindex_txn_merge(txn, first, 0, 0, count_calls, &calls, &counts, error));
    CHECK(counts->added == 4);
    OK(twindex_txn_abort(txn, error));
    twindex_txn_free(txn);
    OK(twindex_txn_begin(other, 1, &txn, error));
    OK(twindex_txn_insert(txn, "6", 1, A, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_merge_unless_similar(txn, first, NULL, count_calls, &calls, &told, &counts,
                                        error));
    CHECK(counts->duplicates >= 1 && counts->added + counts->duplicates == 4);
    CHECK(told.get_next(&told, &batch) == 0 && batch.length == 4);
    CHECK(text_is(batch.children[0], 0, "1") && text_is(batch.children[1], 0, "duplicate"));
    CHECK(text_is(batch.children[2], 0, "6"));
    batch.release(&batch);
    told.release(&told);
    twindex_insertion skip = {.size = sizeof skip, .on_conflict = TWINDEX_ON_CONFLICT_SKIP};
    OK(twindex_txn_merge_unless_similar(txn, first, &skip, NULL, NULL, NULL, NULL, error));
    OK(twindex_txn_abort(txn, error));
    twindex_txn_free(txn);
    OK(twindex_txn_begin(other, 1, &txn, error));
    OK(twindex_txn_merge(txn, first, TWINDEX_ON_CONFLICT_SKIP, 1, NULL, NULL, NULL, error));
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);
    twindex_snapshot_free(first);
    twindex_index_free(other);
    twindex_index_free(index);
}

static void an_index_is_cared_for(const char *folder, twindex_error *error) {
    const char *path = in_folder(folder, "batches.twx"), *copy = in_folder(folder, "copy.twx");
    twindex_index *index;
    OK(twindex_index_open(path, TWINDEX_NUL, NULL, &index, error));
    calls = 0;
    OK(twindex_index_compact(index, count_calls, &calls, error));
    CHECK(calls > 0);
    const twindex_report *report;
    OK(twindex_index_check(index, count_calls, &calls, &report, error));
    CHECK(report->documents == 4 && report->violation_count == 0);
    CHECK(report->violations_listed == 0);
    twindex_report_free(report);
    twindex_snapshot *snapshot;
    OK(twindex_snapshot_take(index, &snapshot, error));
    OK(twindex_snapshot_backup(snapshot, copy, TWINDEX_NUL, count_calls, &calls, error));
    OK(twindex_index_close(index, error));
    CHECK(twindex_snapshot_count(snapshot) == 4);
    twindex_snapshot_free(snapshot);
    twindex_index_free(index);
    OK(twindex_index_open_read_only(copy, TWINDEX_NUL, NULL, &index, error));
    OK(twindex_index_check(index, NULL, NULL, &report, error));
    CHECK(report->documents == 4 && report->violation_count == 0);
    twindex_report_free(report);
    OK(twindex_index_close(index, error));
    twindex_index_free(index);
}

static void passages_are_found(const char *folder, twindex_error *error) {
    for (int stored = 0; stored < 2; stored++) {
        twindex_settings settings = {.size = sizeof settings, .passages = 30};
        settings.store_text = stored ? TWINDEX_YES : TWINDEX_NO;
        const char *path = in_folder(folder, stored ? "passages.twx" : "fingerprints.twx");
        twindex_index *index = create(path, &settings, error);
        twindex_settings kept = {.size = sizeof kept};
        OK(twindex_index_settings(index, &kept, error));
        CHECK(kept.passages == 30);
        twindex_txn *txn;
        OK(twindex_txn_begin(index, 1, &txn, error));
        OK(twindex_txn_insert(txn, "a", 1, A, TWINDEX_NUL, NULL, NULL, error));
        OK(twindex_txn_insert(txn, "b", 1, B, TWINDEX_NUL, NULL, NULL, error));
        OK(twindex_txn_insert(txn, "c", 1, C, TWINDEX_NUL, NULL, NULL, error));
        OK(twindex_txn_commit(txn, error));
        twindex_txn_free(txn);
        twindex_snapshot *snapshot;
        OK(twindex_snapshot_take(index, &snapshot, error));
        // 40 bytes of C, between two texts that are nobody's.
        char text[200];
        snprintf(text, sizeof text, "It is %.40s, they said.", C + 10);
        twindex_passages *passages;
        OK(twindex_passages_find(snapshot, text, TWINDEX_NUL, NULL, &passages, error));
        CHECK(twindex_passages_count(passages) == 1 && !twindex_passages_at(passages, 1));
        const twindex_passage_match *match = twindex_passages_at(passages, 0);
        CHECK(equals(match->id, "c") && match->passages == 1);
        CHECK(match->share > 0 && match->share <= match->most && match->most <= 1);
        const twindex_passage *passage = twindex_passages_passage(passages, 0, 0);
        CHECK(passage->units > 0 && passage->units <= 41 && passage->most_units >= 41);
        CHECK(!twindex_passages_passage(passages, 0, 1));
        if (stored) {
            CHECK(passage->end - passage->start == passage->units && passage->units == 41);
            CHECK(!memcmp(text + passage->start, C + passage->document_start, passage->units));
            CHECK(passage->most_units == passage->units && match->share == match->most);
            CHECK(match->share > 41.0 / strlen(text) - 0.01 && match->share < 0.75);
        } else {
            CHECK(passage->document_start == SIZE_MAX && passage->document_end == SIZE_MAX);
        }
        twindex_passages_free(passages);

        twindex_passage_query one = {.size = sizeof one, .limit = 1, .excluded = "a"};
        OK(twindex_passages_find(snapshot, A, TWINDEX_NUL, &one, &passages, error));
        CHECK(twindex_passages_count(passages) == 1 && twindex_passages_left_out(passages) == 0);
        CHECK(equals(twindex_passages_at(passages, 0)->id, "b"));
        twindex_passages_free(passages);
        one.excluded = NULL;
        OK(twindex_passages_find(snapshot, A, TWINDEX_NUL, &one, &passages, error));
        CHECK(twindex_passages_count(passages) == 1 && twindex_passages_left_out(passages) == 1);
        CHECK(twindex_passages_limited(passages) == 0);
        twindex_passages_free(passages);
        twindex_passage_query few = {.size = sizeof few, .max_candidates = 1};
        OK(twindex_passages_find(snapshot, A, TWINDEX_NUL, &few, &passages, error));
        CHECK(twindex_passages_count(passages) == 1 && twindex_passages_limited(passages) == 1);
        twindex_passages_free(passages);
        twindex_snapshot_free(snapshot);
        twindex_index_free(index);
    }
    twindex_index *index = create(in_folder(folder, "none.twx"), NULL, error);
    twindex_snapshot *snapshot;
    OK(twindex_snapshot_take(index, &snapshot, error));
    twindex_passages *passages;
    FAILS(TWINDEX_MISMATCH, "passages",
          twindex_passages_find(snapshot, A, TWINDEX_NUL, NULL, &passages, error));
    CHECK(!passages && twindex_passages_count(passages) == 0);
    twindex_snapshot_free(snapshot);
    twindex_index_free(index);
}

static void weighted_sets_are_lists(const char *folder, twindex_error *error) {
    twindex_settings settings = {.size = sizeof settings, .weighted = TWINDEX_YES};
    settings.store_text = TWINDEX_YES;
    twindex_index *index = create(in_folder(folder, "weighted.twx"), &settings, error);
    twindex_txn *txn;
    OK(twindex_txn_begin(index, 1, &txn, error));
    const char *set = "a\x1f" "0.5\x1f" "b\x1f" "3\x1f";
    OK(twindex_txn_insert(txn, "w", 1, set, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);
    twindex_snapshot *snapshot;
    OK(twindex_snapshot_take(index, &snapshot, error));
    const twindex_document *document;
    OK(twindex_snapshot_get(snapshot, "w", 1, &document, error));
    CHECK(equals(document->text, set));
    twindex_document_free(document);
    twindex_matches *matches;
    OK(twindex_query_text(snapshot, set, TWINDEX_NUL, NULL, &matches, error));
    CHECK(twindex_matches_count(matches) == 1);
    twindex_matches_free(matches);
    twindex_snapshot_free(snapshot);
    twindex_index_free(index);
}

// What the threads share.
typedef struct shared {
    twindex_index *index;
    twindex_txn *txn;
} shared;

static void *query_often(void *data) {
    shared *with = data;
    twindex_error *error = twindex_error_new();
    for (int i = 0; i < 20; i++) {
        twindex_snapshot *snapshot;
        OK(twindex_snapshot_take(with->index, &snapshot, error));
        twindex_matches *matches;
        OK(twindex_query_text(snapshot, A, TWINDEX_NUL, NULL, &matches, error));
        CHECK(twindex_matches_count(matches) >= 1);
        twindex_matches_free(matches);
        twindex_snapshot_free(snapshot);
    }
    twindex_error_free(error);
    return NULL;
}

static void *commit(void *data) {
    shared *with = data;
    twindex_error *error = twindex_error_new();
    OK(twindex_txn_insert(with->txn, "moved", TWINDEX_NUL, B, TWINDEX_NUL, NULL, NULL, error));
    OK(twindex_txn_commit(with->txn, error));
    twindex_error_free(error);
    return NULL;
}

static void *wait_in_vain(void *data) {
    shared *with = data;
    twindex_error *error = twindex_error_new();
    twindex_txn *txn;
    FAILS(TWINDEX_BUSY, "try again", twindex_txn_begin_within(with->index, 1, &txn, error));
    CHECK(!txn);
    twindex_error_free(error);
    return NULL;
}

static void *wait_for_its_end(void *data) {
    shared *with = data;
    twindex_error *error = twindex_error_new();
    twindex_txn *txn;
    OK(twindex_txn_begin_within(with->index, 600000, &txn, error));
    twindex_txn_free(txn);
    twindex_error_free(error);
    return NULL;
}

static void threads_share_an_index(const char *folder, twindex_error *error) {
    shared with;
    OK(twindex_index_open(in_folder(folder, "documents.twx"), TWINDEX_NUL, NULL, &with.index,
                          error));
    // The transaction is begun here and committed by another thread.
    OK(twindex_txn_begin(with.index, 1, &with.txn, error));
    pthread_t threads[4];
    CHECK(!pthread_create(&threads[0], NULL, wait_in_vain, &with));
    CHECK(!pthread_join(threads[0], NULL));
    CHECK(!pthread_create(&threads[0], NULL, query_often, &with));
    CHECK(!pthread_create(&threads[1], NULL, query_often, &with));
    CHECK(!pthread_create(&threads[2], NULL, wait_for_its_end, &with));
    CHECK(!pthread_create(&threads[3], NULL, commit, &with));
    for (int i = 0; i < 4; i++) {
        CHECK(!pthread_join(threads[i], NULL));
    }
    twindex_txn_free(with.txn);
    twindex_snapshot *snapshot;
    OK(twindex_snapshot_take(with.index, &snapshot, error));
    CHECK(twindex_snapshot_count(snapshot) == 3);
    twindex_snapshot_free(snapshot);
    twindex_index_free(with.index);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    CHECK(strlen(twindex_version()) >= 5);
    twindex_error *error = twindex_error_new();
    CHECK(twindex_error_status(error) == TWINDEX_OK && equals(twindex_error_message(error), ""));
    settings_are_kept(argv[1], error);
    documents_go_in_and_out(argv[1], error);
    similar_documents_are_found(argv[1], error);
    batches_go_in(argv[1], error);
    an_index_is_cared_for(argv[1], error);
    passages_are_found(argv[1], error);
    weighted_sets_are_lists(argv[1], error);
    threads_share_an_index(argv[1], error);
    twindex_error_free(error);
    puts("all as it should be");
    return 0;
}
