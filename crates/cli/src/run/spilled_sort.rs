//! Sorts more values than fit into memory: sorted stretches go to temporary files.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// Values to be sorted.
pub struct SpilledSort<T> {
    /// The size of the values in memory at which they are written to a file, in bytes.
    most: usize,
    values: Vec<T>,
    bytes: usize,
    /// Files of spilled values. Those of each level were merged from some of the level before.
    levels: Vec<Vec<File>>,
}

/// The files that are merged into one, so that few are open at a time.
const MERGED: usize = 32;

impl<T: Ord + Serialize + DeserializeOwned> SpilledSort<T> {
    /// Keeps about this many bytes of values in memory.
    pub fn new(most: usize) -> Self {
        Self { most, values: Vec::new(), bytes: 0, levels: Vec::new() }
    }

    /// Adds a value that takes so many bytes.
    pub fn push(&mut self, value: T, bytes: usize) -> io::Result<()> {
        self.values.push(value);
        self.bytes += bytes + size_of::<T>();
        if self.bytes >= self.most { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.values.sort_unstable();
        let mut file = written(self.values.drain(..).map(Ok))?;
        self.bytes = 0;
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let files = &mut self.levels[level];
            files.push(file);
            if files.len() < MERGED {
                break;
            }
            file = written(Sorted::<T>::new(Vec::new(), std::mem::take(files))?)?;
        }
        Ok(())
    }

    /// All values in order.
    pub fn sorted(mut self) -> io::Result<Sorted<T>> {
        self.values.sort_unstable();
        self.values.reverse();
        Sorted::new(self.values, self.levels.into_iter().flatten().collect())
    }
}

/// A file of these values.
fn written<T: Serialize>(values: impl Iterator<Item = io::Result<T>>) -> io::Result<File> {
    // The file has no name, so it goes when the process ends, however it ends.
    let mut file = BufWriter::new(tempfile::tempfile()?);
    for value in values {
        let bytes = postcard::to_stdvec(&value?).map_err(io::Error::other)?;
        file.write_all(&(bytes.len() as u64).to_le_bytes())?;
        file.write_all(&bytes)?;
    }
    let mut file = file.into_inner()?;
    file.rewind()?;
    Ok(file)
}

/// Sorted values of files and of memory.
pub struct Sorted<T> {
    /// Those that are in memory, the last one first.
    values: Vec<T>,
    files: Vec<BufReader<File>>,
    /// The next value of each file.
    next: BinaryHeap<Reverse<(T, usize)>>,
}

impl<T: Ord + DeserializeOwned> Sorted<T> {
    fn new(values: Vec<T>, files: Vec<File>) -> io::Result<Self> {
        let files: Vec<_> = files.into_iter().map(BufReader::new).collect();
        let count = files.len();
        let mut sorted = Self { values, files, next: BinaryHeap::new() };
        (0..count).try_for_each(|file| sorted.read(file))?;
        Ok(sorted)
    }

    fn read(&mut self, file: usize) -> io::Result<()> {
        let mut length = [0; 8];
        match self.files[file].read_exact(&mut length) {
            Err(end) if end.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        self.files[file].read_exact(&mut bytes)?;
        let value = postcard::from_bytes(&bytes).map_err(io::Error::other)?;
        self.next.push(Reverse((value, file)));
        Ok(())
    }
}

impl<T: Ord + DeserializeOwned> Iterator for Sorted<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let of_file = self.next.peek().map(|Reverse((value, _))| value);
        let from_file = match (of_file, self.values.last()) {
            (Some(of_file), Some(of_memory)) => of_file <= of_memory,
            (of_file, _) => of_file.is_some(),
        };
        if !from_file {
            return self.values.pop().map(Ok);
        }
        let Reverse((value, file)) = self.next.pop()?;
        Some(self.read(file).map(|()| value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_order_from_files_and_memory() {
        for (count, most) in [(0, 100), (5, 1 << 20), (1000, 300), (1000, 7000), (5000, 100)] {
            let mut sort = SpilledSort::new(most);
            let numbers: Vec<u64> = (0..count).map(|n| n * 7919 % 1009 / 2).collect();
            for number in &numbers {
                sort.push((*number, format!("\"{number}\"\n")), 4).expect("written");
            }
            let open: usize = sort.levels.iter().map(Vec::len).sum();
            assert!(open < 3 * MERGED, "{open} files");
            let sorted = sort.sorted().expect("read");
            let sorted: Vec<u64> = sorted.map(|value| value.expect("read").0).collect();
            let mut expected = numbers;
            expected.sort_unstable();
            assert_eq!(sorted, expected);
        }
    }
}
