// A small producer of Arrow streams: one batch with a column of ids and one of texts or signatures.
#ifndef ARROW_TABLE_H
#define ARROW_TABLE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The structures of the Arrow C data and stream interfaces.
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

// The rows of a table: ids, and values that are texts, or signatures of `width` bytes if that is
// not 0.
typedef struct table {
    const char *const *ids;
    const void *const *values;
    int64_t rows;
    int width;
    const char *value_name;
    // Gives an error instead of rows.
    int fails;
    int given;
} table;

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release) {
            schema->children[i]->release(schema->children[i]);
        }
        free(schema->children[i]);
    }
    free(schema->children);
    free((void *)schema->format);
    free((void *)schema->name);
    schema->release = NULL;
}

static char *copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    return strcpy(copy, text);
}

static void column_schema(struct ArrowSchema *schema, const char *format, const char *name) {
    memset(schema, 0, sizeof *schema);
    schema->format = copy_of(format);
    schema->name = copy_of(name);
    schema->release = release_schema;
}

static int table_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    table *rows = stream->private_data;
    char format[32] = "u";
    if (rows->width) {
        snprintf(format, sizeof format, "w:%d", rows->width);
    }
    column_schema(out, "+s", "");
    out->n_children = 2;
    out->children = malloc(2 * sizeof *out->children);
    out->children[0] = malloc(sizeof **out->children);
    out->children[1] = malloc(sizeof **out->children);
    column_schema(out->children[0], "u", "id");
    column_schema(out->children[1], format, rows->value_name);
    return 0;
}

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release) {
            array->children[i]->release(array->children[i]);
        }
        free(array->children[i]);
    }
    free(array->children);
    for (int64_t i = 0; i < array->n_buffers; i++) {
        free((void *)array->buffers[i]);
    }
    free(array->buffers);
    array->release = NULL;
}

// A column of texts, or of values of `width` bytes.
static void column(struct ArrowArray *array, const void *const *values, int64_t rows, int width) {
    memset(array, 0, sizeof *array);
    array->length = rows;
    array->n_buffers = width ? 2 : 3;
    array->buffers = calloc(3, sizeof *array->buffers);
    array->release = release_array;
    if (width) {
        uint8_t *bytes = malloc((size_t)(rows * width) + 1);
        for (int64_t row = 0; row < rows; row++) {
            memcpy(bytes + row * width, values[row], (size_t)width);
        }
        array->buffers[1] = bytes;
        return;
    }
    int32_t *offsets = calloc((size_t)rows + 1, sizeof *offsets);
    for (int64_t row = 0; row < rows; row++) {
        offsets[row + 1] = offsets[row] + (int32_t)strlen(values[row]);
    }
    char *bytes = malloc((size_t)offsets[rows] + 1);
    for (int64_t row = 0; row < rows; row++) {
        memcpy(bytes + offsets[row], values[row], strlen(values[row]));
    }
    array->buffers[1] = offsets;
    array->buffers[2] = bytes;
}

static int table_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    table *rows = stream->private_data;
    memset(out, 0, sizeof *out);
    if (rows->fails) {
        return EIO;
    }
    if (rows->given++) {
        return 0;
    }
    out->length = rows->rows;
    out->n_buffers = 1;
    out->buffers = calloc(1, sizeof *out->buffers);
    out->n_children = 2;
    out->children = malloc(2 * sizeof *out->children);
    out->children[0] = malloc(sizeof **out->children);
    out->children[1] = malloc(sizeof **out->children);
    out->release = release_array;
    column(out->children[0], (const void *const *)rows->ids, rows->rows, 0);
    column(out->children[1], rows->values, rows->rows, rows->width);
    return 0;
}

static const char *table_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "the table cannot be read";
}

static void table_release(struct ArrowArrayStream *stream) {
    free(stream->private_data);
    stream->release = NULL;
}

// A stream of one batch.
static struct ArrowArrayStream stream_of(table rows) {
    table *kept = malloc(sizeof *kept);
    *kept = rows;
    struct ArrowArrayStream stream = {table_schema, table_next, table_error, table_release, kept};
    return stream;
}

// The text in a row of a column of strings.
static inline int text_is(const struct ArrowArray *column, int64_t row, const char *expected) {
    const int32_t *offsets = column->buffers[1];
    const char *bytes = column->buffers[2];
    int32_t from = offsets[row + column->offset];
    size_t length = (size_t)(offsets[row + column->offset + 1] - from);
    return length == strlen(expected) && memcmp(bytes + from, expected, length) == 0;
}

#endif
