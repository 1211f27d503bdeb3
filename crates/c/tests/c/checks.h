// What the test programs share: checks that say where they fail.
#ifndef CHECKS_H
#define CHECKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twindex.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Checks that a call succeeds. The last argument of the call is `error`.
#define OK(call)                                                                                   \
    do {                                                                                           \
        twindex_status status_ = (call);                                                           \
        if (status_ != TWINDEX_OK) {                                                               \
            fprintf(stderr, "%s:%d: status %d: %s\n", __FILE__, __LINE__, (int)status_,            \
                    twindex_error_message(error).data);                                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Checks that a call fails with a status, and that the error says something of it.
#define FAILS(wanted, part, call)                                                                  \
    do {                                                                                           \
        twindex_status status_ = (call);                                                           \
        if (status_ != (wanted) || twindex_error_status(error) != (wanted) ||                      \
            !strstr(twindex_error_message(error).data, part)) {                                    \
            fprintf(stderr, "%s:%d: status %d instead of %d: %s\n", __FILE__, __LINE__,            \
                    (int)status_, (int)(wanted), twindex_error_message(error).data);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline int equals(twindex_string text, const char *expected) {
    return text.length == strlen(expected) && memcmp(text.data, expected, text.length) == 0 &&
           text.data[text.length] == '\0';
}

// A path in the folder of the test.
static inline const char *in_folder(const char *folder, const char *name) {
    static char paths[8][4096];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

#endif
