// Inserts files into an index unless a similar one is known, by JNA on a 64-bit system.
//
//     javac -cp jna.jar NearDuplicates.java
//     java -cp jna.jar:. -Djna.library.path=/usr/local/lib NearDuplicates index.twx *.txt

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

public final class NearDuplicates {
    /** The functions of the header that this program uses. */
    public interface Twindex extends Library {
        Twindex C = Native.load("twindex", Twindex.class);

        int OK = 0;
        int ADDED = 1;
        int DUPLICATE = 5;

        Pointer twindex_error_new();
        Text.ByValue twindex_error_message(Pointer error);
        void twindex_error_free(Pointer error);

        int twindex_index_open_or_create(
                byte[] path, long length, Pointer settings, PointerByReference index, Pointer error);
        int twindex_index_close(Pointer index, Pointer error);
        void twindex_index_free(Pointer index);

        int twindex_txn_begin(Pointer index, int wait, PointerByReference txn, Pointer error);
        int twindex_txn_insert_unless_similar(
                Pointer txn, byte[] id, long idLength, byte[] text, long length, Pointer insertion,
                PointerByReference outcome, Pointer error);
        int twindex_txn_commit(Pointer txn, Pointer error);
        void twindex_txn_free(Pointer txn);

        int twindex_snapshot_take(Pointer index, PointerByReference snapshot, Pointer error);
        long twindex_snapshot_count(Pointer snapshot);
        void twindex_snapshot_free(Pointer snapshot);
    }

    /** twindex_string. */
    @Structure.FieldOrder({"data", "length"})
    public static class Text extends Structure {
        public Pointer data;
        public long length;

        public static final class ByValue extends Text implements Structure.ByValue {}

        @Override
        public String toString() {
            return new String(data.getByteArray(0, (int) length), StandardCharsets.UTF_8);
        }
    }

    /** twindex_match. */
    @Structure.FieldOrder({"id", "similarity"})
    public static final class Match extends Structure {
        public Text id;
        public double similarity;

        public Match(Pointer match) {
            super(match);
            read();
        }
    }

    /** twindex_outcome. */
    @Structure.FieldOrder({"what", "against", "similar"})
    public static final class Outcome extends Structure {
        public int what;
        public int against;
        public Pointer similar;

        public Outcome(Pointer outcome) {
            super(outcome);
            read();
        }
    }

    private static final class TwindexException extends RuntimeException {
        private static final long serialVersionUID = 1;

        TwindexException(String message) {
            super(message);
        }
    }

    private static void check(int status, Pointer error) {
        if (status != Twindex.OK) {
            throw new TwindexException(Twindex.C.twindex_error_message(error).toString());
        }
    }

    private static String insert(Pointer txn, String file, Pointer error) throws IOException {
        byte[] id = file.getBytes(StandardCharsets.UTF_8);
        byte[] text = Files.readAllBytes(Path.of(file));
        PointerByReference place = new PointerByReference();
        check(Twindex.C.twindex_txn_insert_unless_similar(
                txn, id, id.length, text, text.length, null, place, error), error);
        Outcome outcome = new Outcome(place.getValue());
        if (outcome.what == Twindex.DUPLICATE) {
            Match like = new Match(outcome.similar);
            return String.format("like %s, %.2f", like.id, like.similarity);
        }
        return outcome.what == Twindex.ADDED ? "added" : "known";
    }

    private static void run(String path, String[] arguments, Pointer error) throws IOException {
        byte[] name = path.getBytes(StandardCharsets.UTF_8);
        PointerByReference place = new PointerByReference();
        check(Twindex.C.twindex_index_open_or_create(name, name.length, null, place, error), error);
        Pointer index = place.getValue();
        try {
            check(Twindex.C.twindex_txn_begin(index, 1, place, error), error);
            Pointer txn = place.getValue();
            try {
                for (int i = 1; i < arguments.length; i++) {
                    System.out.println(arguments[i] + ": " + insert(txn, arguments[i], error));
                }
                check(Twindex.C.twindex_txn_commit(txn, error), error);
            } finally {
                // Without a commit, this undoes everything.
                Twindex.C.twindex_txn_free(txn);
            }
            check(Twindex.C.twindex_snapshot_take(index, place, error), error);
            Pointer snapshot = place.getValue();
            System.out.println(Twindex.C.twindex_snapshot_count(snapshot) + " documents");
            Twindex.C.twindex_snapshot_free(snapshot);
            check(Twindex.C.twindex_index_close(index, error), error);
        } finally {
            Twindex.C.twindex_index_free(index);
        }
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 0) {
            System.err.println("usage: NearDuplicates INDEX [FILE...]");
            System.exit(2);
        }
        Pointer error = Twindex.C.twindex_error_new();
        try {
            run(arguments[0], arguments, error);
        } catch (TwindexException failed) {
            System.err.println("NearDuplicates: " + failed.getMessage());
            System.exit(2);
        } finally {
            Twindex.C.twindex_error_free(error);
        }
    }
}
