//! What fuzzing calls, one function a target of `fuzz/`; compiled for that and for tests only.

pub use crate::index::trials::fuzz::damage;
pub use crate::sketch::fuzz::sketch;
pub use crate::store::sim::fuzz::records;
pub use crate::text::fuzz::text;

#[cfg(test)]
#[path = "../tests/integration/inputs.rs"]
mod inputs;

#[cfg(test)]
mod tests {
    use super::inputs::for_each_input;

    #[test]
    fn stored_rows_are_refused_or_written_as_they_were_read() {
        for_each_input("records", super::records);
    }

    #[test]
    fn an_index_of_changed_rows_gives_answers_or_errors() {
        for_each_input("damage", super::damage);
    }

    #[test]
    fn texts_are_normalised_and_cut_as_the_format_says() {
        for_each_input("text", super::text);
    }

    #[test]
    fn sets_are_sketched_as_the_format_says() {
        for_each_input("sketch", super::sketch);
    }
}
