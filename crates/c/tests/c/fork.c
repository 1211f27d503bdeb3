// A child of a process that has used the library uses it, too.

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "twindex.h"

// Fills an index and looks for pairs. Returns -1 after an error.
static int uses(const char *path) {
    twindex_error *error = twindex_error_new();
    twindex_index *index = NULL;
    twindex_txn *txn = NULL;
    twindex_snapshot *snapshot = NULL;
    int found = -1;
    if (twindex_index_open_or_create(path, TWINDEX_NUL, NULL, &index, error) != TWINDEX_OK ||
        twindex_txn_begin(index, 1, &txn, error) != TWINDEX_OK) {
        goto end;
    }
    for (int number = 0; number < 2000; number++) {
        char id[32], text[64];
        snprintf(id, sizeof id, "%d", number);
        snprintf(text, sizeof text, "a text of its own, number %d", number * 7919);
        if (twindex_txn_insert(txn, id, TWINDEX_NUL, text, TWINDEX_NUL, NULL, NULL, error) !=
            TWINDEX_OK) {
            goto end;
        }
    }
    if (twindex_txn_commit(txn, error) != TWINDEX_OK ||
        twindex_snapshot_take(index, &snapshot, error) != TWINDEX_OK) {
        goto end;
    }
    twindex_pairs *pairs = NULL;
    const twindex_pair *pair = NULL;
    if (twindex_pairs_open(snapshot, NULL, &pairs, error) == TWINDEX_OK &&
        twindex_pairs_next(pairs, &pair, error) == TWINDEX_OK) {
        found = 0;
    }
    twindex_pairs_free(pairs);
end:
    if (found < 0) {
        fprintf(stderr, "%s\n", twindex_error_message(error).data);
    }
    twindex_snapshot_free(snapshot);
    twindex_txn_free(txn);
    twindex_index_close(index, NULL);
    twindex_index_free(index);
    twindex_error_free(error);
    return found;
}

// Waits for the transaction, and ends it.
static void *takes_a_turn(void *index) {
    twindex_error *error = twindex_error_new();
    twindex_txn *txn = NULL;
    const char *failed = NULL;
    if (twindex_txn_begin(index, 1, &txn, error) != TWINDEX_OK ||
        twindex_txn_commit(txn, error) != TWINDEX_OK) {
        failed = "a turn";
        fprintf(stderr, "%s\n", twindex_error_message(error).data);
    }
    twindex_txn_free(txn);
    twindex_error_free(error);
    return (void *)failed;
}

// More threads than the library has wait for a transaction, which ends. The thread that holds it is
// told that it would wait for itself.
static int takes_turns(const char *path) {
    enum { WAITING = 80 };
    twindex_error *error = twindex_error_new();
    twindex_index *index = NULL;
    twindex_txn *txn = NULL, *again = NULL;
    pthread_t waiting[WAITING];
    int started = 0, found = -1;
    if (twindex_index_open_or_create(path, TWINDEX_NUL, NULL, &index, error) != TWINDEX_OK ||
        twindex_txn_begin(index, 1, &txn, error) != TWINDEX_OK) {
        goto end;
    }
    for (int round = 0; round < 20; round++) {
        if (twindex_txn_begin(index, 1, &again, NULL) != TWINDEX_BUSY) {
            goto end;
        }
    }
    while (started < WAITING &&
           pthread_create(&waiting[started], NULL, takes_a_turn, index) == 0) {
        started++;
    }
    usleep(200000);
    if (started == WAITING && twindex_txn_commit(txn, error) == TWINDEX_OK) {
        found = 0;
    }
end:
    if (found < 0) {
        fprintf(stderr, "turns: %s\n", twindex_error_message(error).data);
        _exit(5);
    }
    for (int at = 0; at < started; at++) {
        void *failed = NULL;
        pthread_join(waiting[at], &failed);
        found = failed == NULL ? found : -1;
    }
    twindex_txn_free(txn);
    twindex_index_free(index);
    twindex_error_free(error);
    return found;
}

int main(int count, char **arguments) {
    if (count != 2 || chdir(arguments[1]) != 0 || uses("parent.twx") < 0) {
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(uses("child.twx") < 0 || takes_turns("turns.twx") < 0 ? 2 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "the child ended with %d\n", status);
        return 3;
    }
    // The parent goes on as before.
    if (uses("parent.twx") < 0) {
        return 4;
    }
    puts("all as it should be");
    return 0;
}
