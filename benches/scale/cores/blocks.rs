//! The blocks in which the command reads a file of lines.

use crate::Outcome;
use std::path::Path;

/// As in `crates/cli/src/input/blocks.rs`.
const BLOCK_BYTES: usize = 4 << 20;
const BLOCK_LINES: usize = 1 << 14;

/// The lengths of some lines, line ends included.
#[derive(Debug)]
pub struct Block {
    pub lines: Vec<usize>,
}

impl Block {
    pub fn bytes(&self) -> usize {
        self.lines.iter().sum()
    }
}

/// Cuts a file as the command does.
pub fn cut(corpus: &Path) -> Outcome<Vec<Block>> {
    let file = std::fs::read(corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    let mut blocks = Vec::new();
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        if !lines.is_empty() && (bytes + line.len() > BLOCK_BYTES || lines.len() >= BLOCK_LINES) {
            blocks.push(Block { lines: std::mem::take(&mut lines) });
            bytes = 0;
        }
        lines.push(line.len());
        bytes += line.len();
    }
    blocks.push(Block { lines });
    Ok(blocks)
}
