//! A program in a terminal of its own, seen through a terminal emulator.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// A condition that has not come true after this never will.
const DEADLINE: Duration = Duration::from_secs(30);
/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// What a program asked of its terminal beside writing into it.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// What it put into the clipboard (OSC 52), as it was sent.
    pub(crate) copied: Vec<String>,
    pub(crate) bells: usize,
}

impl vt100::Callbacks for Heard {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.bells += 1;
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.copied.push(String::from_utf8(data.to_vec()).unwrap());
    }
}

/// A program that runs in a terminal.
pub(crate) struct Session {
    child: Box<dyn Child + Send + Sync>,
    emulator: Arc<Mutex<vt100::Parser<Heard>>>,
    /// Every byte that the program wrote.
    written: Arc<Mutex<Vec<u8>>>,
    keyboard: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    /// Kept open, so that the terminal outlives the program as a person's terminal does.
    _slave: Box<dyn SlavePty + Send>,
    modes_before: String,
}

impl Session {
    /// Starts `command` in a terminal of `columns` by `rows`.
    pub(crate) fn start(command: CommandBuilder, (columns, rows): (u16, u16)) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let modes_before = modes(pair.master.as_ref());
        let emulator =
            vt100::Parser::new_with_callbacks(some(rows), some(columns), 0, Heard::default());
        let emulator = Arc::new(Mutex::new(emulator));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        let screen = Arc::clone(&emulator);
        let written = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                kept.lock().unwrap().extend_from_slice(&bytes[..read]);
                screen.lock().unwrap().process(&bytes[..read]);
            }
        });
        Self {
            child,
            emulator,
            written,
            keyboard,
            master: pair.master,
            _slave: pair.slave,
            modes_before,
        }
    }

    /// Types `keys`.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Makes the terminal another size.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.emulator.lock().unwrap().screen_mut().set_size(some(rows), some(columns));
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).unwrap();
    }

    /// Sends the program a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.process_id().unwrap()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// What stands in the terminal.
    pub(crate) fn text(&self) -> String {
        self.emulator.lock().unwrap().screen().contents()
    }

    /// Where `wanted` begins, as a column and a row from 0.
    pub(crate) fn place(&self, wanted: &str) -> (u16, u16) {
        let emulator = self.emulator.lock().unwrap();
        let columns = emulator.screen().size().1.get();
        for (y, row) in (0..).zip(emulator.screen().rows(0, columns)) {
            if let Some(at) = row.find(wanted) {
                return (u16::try_from(row[..at].chars().count()).unwrap(), y);
            }
        }
        panic!("{wanted:?} is not in the terminal:\n{}", emulator.screen().contents());
    }

    /// The first cell of `wanted`.
    pub(crate) fn cell(&self, wanted: &str) -> vt100::Cell {
        let (column, row) = self.place(wanted);
        self.emulator.lock().unwrap().screen().cell(row, column).unwrap().clone()
    }

    /// Waits until what the program asked of its terminal is as wanted.
    pub(crate) fn hears(&self, what: &str, is_so: impl Fn(&Heard) -> bool) {
        self.until(what, |session| is_so(session.emulator.lock().unwrap().callbacks()));
    }

    /// Whether the program gets the clicks of the mouse.
    pub(crate) fn has_mouse(&self) -> bool {
        let mode = self.emulator.lock().unwrap().screen().mouse_protocol_mode();
        mode != vt100::MouseProtocolMode::None
    }

    /// Waits until the terminal shows all of `wanted`.
    pub(crate) fn shows(&self, wanted: &[&str]) {
        self.until(&format!("{wanted:?}"), |session| {
            let text = session.text();
            wanted.iter().all(|wanted| text.contains(wanted))
        });
    }

    /// Waits until the program has written a string that begins with `begin` and goes on to the next `end`; what stands between.
    pub(crate) fn receives(&self, begin: &[u8], end: u8) -> Vec<u8> {
        let mut found = None;
        self.until(&format!("{:?}", String::from_utf8_lossy(begin)), |session| {
            let written = session.written.lock().unwrap();
            let at = written.windows(begin.len()).position(|window| window == begin);
            let rest = at.map(|at| &written[at + begin.len()..]);
            found = rest
                .and_then(|rest| Some(rest[..rest.iter().position(|byte| *byte == end)?].to_vec()));
            found.is_some()
        });
        found.unwrap()
    }

    /// Waits until `wanted` is no longer in the terminal.
    pub(crate) fn lacks(&self, wanted: &str) {
        self.until(&format!("no {wanted:?}"), |session| !session.text().contains(wanted));
    }

    /// Waits until the terminal is as it was before the program took it.
    pub(crate) fn is_given_back(&self) {
        self.until("the terminal as it was found", |session| {
            let emulator = session.emulator.lock().unwrap();
            let screen = emulator.screen();
            !screen.alternate_screen()
                && !screen.hide_cursor()
                && !screen.bracketed_paste()
                && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
                && modes(session.master.as_ref()) == session.modes_before
        });
    }

    /// Whether the program has the terminal.
    pub(crate) fn is_taken(&self) -> bool {
        self.emulator.lock().unwrap().screen().alternate_screen()
    }

    /// Waits until the program has ended; its exit code.
    pub(crate) fn ends(&mut self) -> u32 {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(began.elapsed() < DEADLINE, "it does not end:\n{}", self.text());
            std::thread::sleep(LOOK);
        }
    }

    fn until(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(
                began.elapsed() < DEADLINE,
                "waited for {what}, but there is:\n{}",
                self.text()
            );
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How the terminal treats input and output: raw or not, echo or not.
fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

fn some(columns: u16) -> NonZero<u16> {
    NonZero::new(columns).unwrap()
}
