//! The terminal: taken, and always given back: at the end, on errors, on panics, on suspension.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use rustix::process::{Signal, kill_current_process_group};

/// Asks for presses and the wheel in the form without limits. The library's own command also asks for every move, which
/// would wake the loop for nothing.
const MOUSE: &str = "\u{1b}[?1000h\u{1b}[?1006h";

/// Whether the terminal is ours at the moment. The panic hook has nothing else to go by.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while the screen has it. Dropping gives it back.
pub(super) struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Output>>,
    mouse: bool,
}

impl Terminal {
    /// Takes the terminal, with its mouse if that is wanted.
    ///
    /// # Errors
    /// Standard input or output is no terminal, or the terminal refuses.
    pub(super) fn take(mouse: bool) -> io::Result<Self> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return Err(io::Error::other("standard input and output have to be a terminal"));
        }
        hook_panics(thread::current().id());
        enter(mouse)?;
        let backend = CrosstermBackend::new(Output::new());
        let inner = ratatui::Terminal::new(backend).inspect_err(|_| leave())?;
        Ok(Self { inner, mouse })
    }

    /// The size in columns and rows.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.inner.size()?;
        Ok((size.width, size.height))
    }

    /// Draws a frame that the terminal shows at once.
    pub(super) fn draw(&mut self, render: impl FnOnce(&mut Frame)) -> io::Result<()> {
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self.inner.draw(render).map(drop);
        execute!(self.inner.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Forgets what the terminal shows, so that the next frame draws every cell.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        // Clearing by the library's own call would ask the terminal where the cursor is, and the answer would have to come
        // through the input that the event stream is reading: after a suspension it does not come in time.
        let size = self.inner.size()?;
        self.inner.resize(Rect::from(size))
    }

    /// Rings the bell.
    pub(super) fn ring(&mut self) -> io::Result<()> {
        execute!(self.inner.backend_mut(), Print('\u{7}'))
    }

    /// Asks the terminal to show `text`, which has to be clean, as a message of the desktop (OSC 9). A terminal that can't ignores
    /// it. BEL ends it: that is how this message was defined, and some terminals know no other end of it.
    pub(super) fn notify(&mut self, text: &str) -> io::Result<()> {
        execute!(self.inner.backend_mut(), Print(format!("\u{1b}]9;{text}\u{7}")))
    }

    /// Asks the terminal to put `text` into the clipboard. Works over ssh; a terminal that can't ignores it.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.inner.backend_mut(), CopyToClipboard::to_clipboard_from(text))
    }

    /// Gives the terminal back, stops the whole job as a shell expects, and takes the terminal again when the job goes
    /// on.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        leave();
        kill_current_process_group(Signal::TSTP)?;
        self.resume()
    }

    /// Takes the terminal again after the process was stopped, whoever stopped it.
    pub(super) fn resume(&mut self) -> io::Result<()> {
        // A shell may have changed the modes meanwhile; without this they would count as raw still.
        let _ = disable_raw_mode();
        enter(self.mouse)?;
        self.forget()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave();
        // The inner terminal shows its cursor when it is dropped, and complains on standard error if that fails. On a
        // terminal that has gone away the complaint itself would fail and panic, so the failure happens here first.
        let _ = self.inner.show_cursor();
    }
}

/// Standard output. A failure is reported once; from then on there is nobody to write to, and that is no failure.
struct Output {
    inner: BufWriter<Stdout>,
    is_gone: bool,
}

impl Output {
    fn new() -> Self {
        Self { inner: BufWriter::with_capacity(1 << 16, io::stdout()), is_gone: false }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_gone {
            return Ok(bytes.len());
        }
        self.inner.write(bytes).inspect_err(|_| self.is_gone = true)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_gone {
            return Ok(());
        }
        self.inner.flush().inspect_err(|_| self.is_gone = true)
    }
}

fn enter(mouse: bool) -> io::Result<()> {
    IS_TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()
        .and_then(|()| execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste))
        .and_then(|()| if mouse { execute!(io::stdout(), Print(MOUSE)) } else { Ok(()) })
        .inspect_err(|_| leave())
}

/// Gives the terminal back, once. Whatever fails here, the rest is still tried.
fn leave() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// A panic of the screen's thread gives the terminal back before it is reported. One of another thread must not write
/// over the screen: it goes to the log, by place only, since its words may hold what must not be written down.
fn hook_panics(screen: ThreadId) {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_TAKEN.load(Ordering::SeqCst) && thread::current().id() != screen {
                let place = info.location().map(ToString::to_string).unwrap_or_default();
                tracing::error!(place, "a thread panicked");
                return;
            }
            leave();
            before(info);
        }));
    });
}
