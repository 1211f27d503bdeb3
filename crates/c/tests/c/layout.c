// Prints the size of every structure of the header and the place of every field.

#include <stddef.h>
#include <stdio.h>
#include <twindex.h>

#define STRUCT(type) printf("%s: %zu bytes\n", #type, sizeof(type))
#define FIELD(type, field, declared)                                                               \
    printf("    %zu %s, %zu bytes\n", offsetof(type, field), declared, sizeof(((type *)0)->field))

int main(void) {
#include "fields.h"
    return 0;
}
