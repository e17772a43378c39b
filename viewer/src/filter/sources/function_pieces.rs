//! [`PieceBlocks`]: a packed, piecewise constant function of time. A piece takes about five bytes.
//! Many pieces are moved to a file.
//!
//! [`blocks`] stores them, and [`piece_bytes`] packs their bytes.

mod blocks;
mod piece;
mod piece_bytes;
mod piece_merge;

pub(crate) use blocks::{PieceBlocks, StepWriter};
pub(crate) use piece::FunctionPiece;
pub(crate) use piece_bytes::{MEMORY_LIMIT, PieceMemory};
pub(crate) use piece_merge::{OwnedPiece, PieceFold, PieceList, PieceMerge};
