// The part of `speed.rs` that is in C: it queries an index and inserts prepared signatures, and
// prints how long that takes.
//
//     speed query INDEX TEXTS      nanoseconds of each query; TEXTS has one text a line
//     speed insert INDEX SIGNATURES ROWS WIDTH      seconds for all, committed

#include "../tests/c/arrow_table.h"
#include "../tests/c/checks.h"
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void query(const char *path, const char *texts, twindex_error *error) {
    twindex_index *index;
    OK(twindex_index_open_read_only(path, TWINDEX_NUL, NULL, &index, error));
    twindex_snapshot *snapshot;
    OK(twindex_snapshot_take(index, &snapshot, error));
    FILE *file = fopen(texts, "r");
    CHECK(file);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    size_t found = 0;
    while ((length = getline(&line, &capacity, file)) > 0) {
        double before = seconds();
        twindex_matches *matches;
        OK(twindex_query_text(snapshot, line, (size_t)length - 1, NULL, &matches, error));
        size_t count = twindex_matches_count(matches);
        for (size_t i = 0; i < count; i++) {
            found += twindex_matches_at(matches, i)->id.length;
        }
        twindex_matches_free(matches);
        printf("%.0f\n", (seconds() - before) * 1e9);
    }
    CHECK(found > 0);
    free(line);
    fclose(file);
    twindex_snapshot_free(snapshot);
    twindex_index_free(index);
}

static void insert(const char *path, const char *signatures, int64_t rows, int width,
                   twindex_error *error) {
    twindex_index *index;
    OK(twindex_index_create(path, TWINDEX_NUL, NULL, &index, error));
    FILE *file = fopen(signatures, "rb");
    CHECK(file);
    uint8_t *all = malloc((size_t)(rows * width));
    CHECK(fread(all, (size_t)width, (size_t)rows, file) == (size_t)rows);
    fclose(file);
    // Batches of 100,000 rows.
    enum { BATCH = 100000 };
    static char names[BATCH][24];
    static const char *ids[BATCH];
    static const void *values[BATCH];
    twindex_insertion insertion = {.size = sizeof insertion, .signature_column = "signature"};
    double before = seconds();
    twindex_txn *txn;
    OK(twindex_txn_begin(index, 1, &txn, error));
    for (int64_t from = 0; from < rows; from += BATCH) {
        int64_t count = rows - from < BATCH ? rows - from : BATCH;
        for (int64_t row = 0; row < count; row++) {
            snprintf(names[row], sizeof names[row], "d%lld", (long long)(from + row));
            ids[row] = names[row];
            values[row] = all + (from + row) * width;
        }
        struct ArrowArrayStream stream =
            stream_of((table){ids, values, count, width, "signature", 0, 0});
        OK(twindex_txn_insert_arrow(txn, &stream, &insertion, NULL, NULL, error));
    }
    OK(twindex_txn_commit(txn, error));
    printf("%.3f\n", seconds() - before);
    twindex_txn_free(txn);
    free(all);
    twindex_index_free(index);
}

int main(int argc, char **argv) {
    twindex_error *error = twindex_error_new();
    if (argc == 4 && !strcmp(argv[1], "query")) {
        query(argv[2], argv[3], error);
    } else if (argc == 6 && !strcmp(argv[1], "insert")) {
        insert(argv[2], argv[3], atoll(argv[4]), atoi(argv[5]), error);
    } else {
        return 2;
    }
    twindex_error_free(error);
    return 0;
}
