// Keeps the lines of a file that are no near duplicates, in an index that lasts.
//
//     cc near_duplicates.c -o near_duplicates $(pkg-config --cflags --libs twindex)
//     ./near_duplicates lines.twx < lines.txt
//
// Run it again with other lines: they are compared with all lines of the runs before.

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twindex.h>

// What went wrong in the last call.
static twindex_error *error;

static void check(twindex_status status) {
    if (status != TWINDEX_OK) {
        fprintf(stderr, "near_duplicates: %s\n", twindex_error_message(error).data);
        exit(2);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: near_duplicates INDEX < LINES\n");
        return 2;
    }
    error = twindex_error_new();

    twindex_settings settings = {.size = sizeof settings};
    settings.threshold = 0.7;
    settings.store_text = TWINDEX_YES;
    twindex_index *index;
    check(twindex_index_open_or_create(argv[1], TWINDEX_NUL, &settings, &index, error));

    twindex_txn *txn;
    check(twindex_txn_begin(index, 1, &txn, error));
    char *line = NULL;
    size_t capacity = 0;
    ssize_t read;
    while ((read = getline(&line, &capacity, stdin)) > 0) {
        // The line may have a NUL, so its length is what was read.
        size_t length = (size_t)read - (line[read - 1] == '\n');
        if (length == 0) {
            continue;
        }
        // A line is its own id, so that a line that was there before is unchanged.
        if (length > 4096) {
            fprintf(stderr, "near_duplicates: a line of %zu bytes is left out\n", length);
            continue;
        }
        const twindex_outcome *outcome;
        check(twindex_txn_insert_unless_similar(txn, line, length, line, length, NULL, &outcome,
                                                error));
        if (outcome->what == TWINDEX_DUPLICATE) {
            printf("%.2f  %.*s\n      %s\n", outcome->similar->similarity, (int)length, line,
                   outcome->similar->id.data);
        }
    }
    free(line);
    check(twindex_txn_commit(txn, error));
    twindex_txn_free(txn);

    twindex_snapshot *snapshot;
    check(twindex_snapshot_take(index, &snapshot, error));
    printf("%llu lines are kept in %s\n", (unsigned long long)twindex_snapshot_count(snapshot),
           argv[1]);
    twindex_snapshot_free(snapshot);

    check(twindex_index_close(index, error));
    twindex_index_free(index);
    twindex_error_free(error);
    return 0;
}
