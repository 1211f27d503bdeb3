//! The functions that the fuzz targets of the command call. Only fuzzing and tests compile them.

pub use crate::input::fuzz::lines;
pub use crate::input::fuzz_formats::formats;

#[cfg(test)]
#[path = "../../../tests/integration/inputs.rs"]
mod inputs;

#[cfg(test)]
mod tests {
    use super::inputs::for_each_input;

    #[test]
    fn formats_do_not_depend_on_pieces() {
        for_each_input("formats", super::formats);
    }

    #[test]
    fn streams_are_read_as_their_lines() {
        for_each_input("lines", super::lines);
    }
}
