//! Each recorded transcript, adopted while it is empty and grown in pieces: the journal holds its turns.

use std::fs;

use crate::inputs::claude;
use crate::support::{Bench, append};

#[test]
fn the_journal_holds_the_turns_of_each_recorded_transcript() {
    let (mut grown, mut refused) = (0, 0);
    for case in claude() {
        let bytes = case.bytes();
        let want = case.expectation.human_turns.len() as u64;
        for pieces in [1, 7] {
            let mut bench = Bench::new();
            let path = bench.place(&case.path);
            fs::write(&path, "").unwrap();
            let claude = bench.claude.clone();
            let Ok(adopted) = bench.engine.adopt(&*claude, path.to_str().unwrap(), None) else {
                assert_eq!(want, 0, "{} was refused", case.file);
                refused += 1;
                continue;
            };
            bench.watch(&adopted.session);
            for piece in bytes.chunks(bytes.len() / pieces + 1) {
                append(&path, piece);
                bench.tick_one();
            }
            let found: u64 = bench.turns(&adopted.session).iter().sum();
            assert_eq!(found, want, "{} in {pieces} pieces", case.file);
            let notices = bench.notices(&crate::support::watcher());
            assert_eq!(notices, usize::from(want > 0), "{}", case.file);
            grown += 1;
        }
    }
    assert_eq!((grown, refused), (58, 6));
}
