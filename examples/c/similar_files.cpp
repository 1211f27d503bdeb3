// Tells which of some files are similar, with handles that free themselves.
//
//     c++ -std=c++17 similar_files.cpp -o similar_files $(pkg-config --cflags --libs twindex)
//     ./similar_files index.twx *.txt

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <twindex.h>

namespace {

// Frees a handle with its function of the library.
template <auto release> struct Releaser {
    template <typename Handle> void operator()(Handle *handle) const { release(handle); }
};
using Error = std::unique_ptr<twindex_error, Releaser<twindex_error_free>>;
using Index = std::unique_ptr<twindex_index, Releaser<twindex_index_free>>;
using Txn = std::unique_ptr<twindex_txn, Releaser<twindex_txn_free>>;
using Snapshot = std::unique_ptr<twindex_snapshot, Releaser<twindex_snapshot_free>>;
using Pairs = std::unique_ptr<twindex_pairs, Releaser<twindex_pairs_free>>;

std::string_view view(twindex_string text) { return {text.data, text.length}; }

// Calls a function of the library with its error, and throws that if it fails.
template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
    Error error(twindex_error_new());
    if (function(arguments..., error.get()) != TWINDEX_OK) {
        throw std::runtime_error(std::string(view(twindex_error_message(error.get()))));
    }
}

std::string contents(const char *path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error(std::string(path) + ": cannot be opened");
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

void run(const char *path, char **files, int count) {
    twindex_index *opened;
    call(twindex_index_open_or_create, path, TWINDEX_NUL, nullptr, &opened);
    Index index(opened);

    twindex_txn *begun;
    call(twindex_txn_begin, index.get(), 1, &begun);
    Txn txn(begun);
    for (int i = 0; i < count; i++) {
        std::string text = contents(files[i]);
        const twindex_outcome *outcome;
        call(twindex_txn_insert, txn.get(), files[i], TWINDEX_NUL, text.data(), text.size(),
             nullptr, &outcome);
    }
    call(twindex_txn_commit, txn.get());

    twindex_snapshot *taken;
    call(twindex_snapshot_take, index.get(), &taken);
    Snapshot snapshot(taken);
    twindex_pairs *found;
    call(twindex_pairs_open, snapshot.get(), nullptr, &found);
    Pairs pairs(found);
    const twindex_pair *pair;
    for (call(twindex_pairs_next, pairs.get(), &pair); pair;
         call(twindex_pairs_next, pairs.get(), &pair)) {
        std::cout << pair->similarity << "  " << view(pair->a) << "  " << view(pair->b) << "\n";
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        std::cerr << "usage: similar_files INDEX [FILE...]\n";
        return 2;
    }
    try {
        run(argv[1], argv + 2, argc - 2);
    } catch (const std::exception &error) {
        std::cerr << "similar_files: " << error.what() << "\n";
        return 2;
    }
}
