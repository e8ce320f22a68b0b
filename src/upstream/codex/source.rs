//! The bytes of a rollout, plain or compressed. Offsets are always those of the plain bytes.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use zstd::stream::read::Decoder;

use crate::upstream::files::place::{Closed, Stat, open, open_real};
use crate::upstream::files::reader::Source;

/// An open rollout.
#[derive(Debug)]
pub(super) enum Rollout {
    /// As it was written.
    Plain(File),
    /// Compressed.
    Packed(Packed),
}

/// An open rollout, where it lies and how it looked when it was opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened<'a> {
    pub(super) path: &'a Path,
    pub(super) rollout: &'a Rollout,
    pub(super) stat: &'a Stat,
}

impl Rollout {
    /// Opens the rollout at `path`; whether it is compressed, its name says.
    pub(super) fn open(path: &Path) -> Result<(Self, Stat), Closed> {
        Self::of(path, open(path)?)
    }

    /// The same for one that was adopted: no folder above it may have become a link.
    pub(super) fn open_real(path: &Path) -> Result<(Self, Stat), Closed> {
        Self::of(path, open_real(path)?)
    }

    /// A plain one that was opened before.
    pub(super) fn held(file: &File) -> io::Result<Self> {
        file.try_clone().map(Self::Plain)
    }

    fn of(path: &Path, (file, stat): (File, Stat)) -> Result<(Self, Stat), Closed> {
        let is_packed = path.extension().is_some_and(|extension| extension == "zst");
        Ok((if is_packed { Self::Packed(Packed::new(file)?) } else { Self::Plain(file) }, stat))
    }

    /// How the file looks now. Of a plain one that grows, this is later than when it was opened.
    pub(super) fn stat(&self) -> io::Result<Stat> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Packed(packed) => &packed.file,
        };
        Ok(Stat::of(&file.metadata()?))
    }

    pub(super) fn is_packed(&self) -> bool {
        matches!(self, Self::Packed(_))
    }

    /// Whether there are `offset` bytes, and none less.
    pub(super) fn reaches(&self, offset: u64) -> io::Result<bool> {
        if offset == 0 {
            return Ok(true);
        }
        match self {
            Self::Plain(file) => Ok(file.metadata()?.len() >= offset),
            Self::Packed(packed) => Ok(packed.read_at(&mut [0], offset - 1)? == 1),
        }
    }

    /// How many bytes there are. Of a compressed one, all have to be read for that.
    pub(super) fn size(&self) -> io::Result<u64> {
        match self {
            Self::Plain(file) => Ok(file.metadata()?.len()),
            Self::Packed(packed) => packed.size(),
        }
    }
}

impl Source for Rollout {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::Plain(file) => FileExt::read_at(file, buffer, offset),
            Self::Packed(packed) => packed.read_at(buffer, offset),
        }
    }
}

/// A compressed rollout. Its bytes come in order only, so the place where the last read ended is kept: reading on costs what
/// is read, going back costs all that lies before. Memory stays bounded either way.
pub(super) struct Packed {
    file: Arc<File>,
    stream: Mutex<Stream>,
}

/// The plain bytes from some place on.
struct Stream {
    bytes: Decoder<'static, BufReader<Bytes>>,
    at: u64,
}

/// A file, read from its start whoever else reads it.
struct Bytes {
    file: Arc<File>,
    at: u64,
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = FileExt::read_at(&*self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Stream {
    fn new(file: &Arc<File>) -> io::Result<Self> {
        let bytes = Decoder::new(Bytes { file: Arc::clone(file), at: 0 })?;
        Ok(Self { bytes, at: 0 })
    }

    /// Passes over what lies before `offset`.
    fn skip_to(&mut self, offset: u64) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.bytes).take(offset - self.at), &mut io::sink())?;
        self.at += skipped;
        Ok(())
    }

    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.bytes.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.at += filled as u64;
        Ok(filled)
    }
}

impl Packed {
    fn new(file: File) -> io::Result<Self> {
        let file = Arc::new(file);
        let stream = Mutex::new(Stream::new(&file)?);
        Ok(Self { file, stream })
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if offset < stream.at {
            // A look back must not cost the place in the stream.
            let mut before = Stream::new(&self.file)?;
            before.skip_to(offset)?;
            return before.fill(buffer);
        }
        stream.skip_to(offset)?;
        if stream.at < offset { Ok(0) } else { stream.fill(buffer) }
    }

    fn size(&self) -> io::Result<u64> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.skip_to(u64::MAX)?;
        Ok(stream.at)
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packed").field("file", &self.file).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bytes: &[u8]) -> Packed {
        let mut file = tempfile::tempfile().unwrap();
        zstd::stream::copy_encode(bytes, &mut file, 3).unwrap();
        Packed::new(file).unwrap()
    }

    #[test]
    fn bytes_are_read_at_any_offset_in_any_order() {
        let bytes: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let packed = packed(&bytes);
        let mut buffer = vec![0; 70_000];
        for offset in [0, 5, 3_000_000, 2_000_001, 3_070_000, 0, 3_999_999, 4_000_000, 9_000_000] {
            let want = bytes.get(offset..).unwrap_or_default();
            let want = &want[..want.len().min(buffer.len())];
            let read = packed.read_at(&mut buffer, offset as u64).unwrap();
            assert!(buffer[..read] == *want, "at {offset}");
        }
        assert_eq!(packed.size().unwrap(), 4_000_000);
        let rollout = Rollout::Packed(packed);
        assert!(rollout.reaches(4_000_000).unwrap());
        assert!(!rollout.reaches(4_000_001).unwrap());
    }

    #[test]
    fn a_file_that_breaks_off_is_an_error_and_not_an_end() {
        let mut whole = Vec::new();
        zstd::stream::copy_encode(&[7_u8; 1_000][..], &mut whole, 3).unwrap();
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&whole[..whole.len() - 3], 0).unwrap();
        let packed = Packed::new(file).unwrap();
        assert!(packed.size().is_err());
        assert!(packed.read_at(&mut [0], 5_000).is_err());
    }

    #[test]
    fn several_frames_are_one_file() {
        let mut file = tempfile::tempfile().unwrap();
        for part in [&b"one\n"[..], b"two\n"] {
            zstd::stream::copy_encode(part, &mut file, 3).unwrap();
        }
        let packed = Packed::new(file).unwrap();
        let mut buffer = [0; 16];
        assert_eq!(packed.read_at(&mut buffer, 2).unwrap(), 6);
        assert_eq!(&buffer[..6], b"e\ntwo\n");
    }
}
