// Inserts files into an index unless a similar one is known.
//
//	export CGO_CFLAGS=$(pkg-config --cflags twindex) CGO_LDFLAGS=$(pkg-config --libs twindex)
//	go run near_duplicates.go index.twx *.txt
package main

/*
#cgo LDFLAGS: -ltwindex
#include <stdlib.h>
#include <twindex.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// The caller of a library function: its error, whose message becomes one of Go.
type caller struct{ err *C.twindex_error }

func (c caller) check(status C.twindex_status) error {
	if status == C.TWINDEX_OK {
		return nil
	}
	message := C.twindex_error_message(c.err)
	return errors.New(C.GoStringN(message.data, C.int(message.length)))
}

// A text as C takes it. The library does not keep it after the call.
func pointer(text []byte) (*C.char, C.size_t) {
	if len(text) == 0 {
		return nil, 0
	}
	return (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text))
}

func run(path string, files []string) error {
	c := caller{C.twindex_error_new()}
	defer C.twindex_error_free(c.err)

	name, length := pointer([]byte(path))
	var index *C.twindex_index
	if err := c.check(C.twindex_index_open_or_create(name, length, nil, &index, c.err)); err != nil {
		return err
	}
	defer C.twindex_index_free(index)

	var txn *C.twindex_txn
	if err := c.check(C.twindex_txn_begin(index, 1, &txn, c.err)); err != nil {
		return err
	}
	// Without a commit, this undoes everything.
	defer C.twindex_txn_free(txn)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		id, idLength := pointer([]byte(file))
		data, length := pointer(text)
		var outcome *C.twindex_outcome
		status := C.twindex_txn_insert_unless_similar(txn, id, idLength, data, length, nil, &outcome, c.err)
		if err := c.check(status); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		switch outcome.what {
		case C.TWINDEX_ADDED:
			fmt.Printf("%s: added\n", file)
		case C.TWINDEX_DUPLICATE:
			like := outcome.similar
			fmt.Printf("%s: like %s, %.2f\n", file,
				C.GoStringN(like.id.data, C.int(like.id.length)), float64(like.similarity))
		default:
			fmt.Printf("%s: known\n", file)
		}
	}
	if err := c.check(C.twindex_txn_commit(txn, c.err)); err != nil {
		return err
	}

	var snapshot *C.twindex_snapshot
	if err := c.check(C.twindex_snapshot_take(index, &snapshot, c.err)); err != nil {
		return err
	}
	defer C.twindex_snapshot_free(snapshot)
	fmt.Printf("%d documents\n", uint64(C.twindex_snapshot_count(snapshot)))
	return c.check(C.twindex_index_close(index, c.err))
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: near_duplicates INDEX [FILE...]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "near_duplicates:", err)
		os.Exit(2)
	}
}
