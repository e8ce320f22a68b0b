//! The loop around model, update and view: it owns the terminal, carries out effects and keeps time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, EventStream, MouseButton, MouseEvent, MouseEventKind};
use futures_util::StreamExt as _;
use jiff::tz::TimeZone;
use rustix::io::Errno;
use rustix::process::Signal as SignalNumber;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep_until};

use super::keymap::{Keymap, KeymapError, Overrides};
use super::message::{Effect, Gesture, Message, Pointed};
use super::model::{Model, Setup};
use super::save;
use super::terminal::Terminal;
use super::theme::Theme;
use super::update::update;
use super::view::view;
use crate::clock::{Clock, SECOND};
use crate::engine::live::Handle;

/// The least time from one frame to the next.
const FRAME: Duration = Duration::from_millis(16);
/// How many answers may wait to be taken in.
const ANSWERS: usize = 64;

/// How the screen is to look and behave.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the config by itself")]
pub struct Options {
    /// Colours.
    pub theme: Theme,
    /// Keys in place of the default ones (`ui.keys` of the config).
    pub keys: Overrides,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// In which zone times of day are shown.
    pub zone: TimeZone,
    /// A word beside the program's name, for example `demo`.
    pub title: Option<String>,
    /// Whether a notice for the operator rings the bell.
    pub bell: bool,
    /// Whether a notice for the operator is shown as a message of the desktop, by the terminal (OSC 9).
    pub desktop: bool,
    /// Whether the mouse selects and scrolls. The terminal's own selection then needs Shift.
    pub mouse: bool,
    /// Whether the screen keeps to ASCII.
    pub ascii: bool,
}

/// How the screen ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The person quit, or the process was interrupted (SIGINT).
    Quit,
    /// The process was asked to end (SIGTERM).
    Terminated,
    /// The terminal went away (SIGHUP).
    HungUp,
}

/// Why the screen can't be shown.
#[derive(Debug, thiserror::Error)]
pub enum UiError {
    /// The keys of the config can't be used.
    #[error(transparent)]
    Keys(#[from] KeymapError),
    /// The terminal can't be used.
    #[error("the screen can't be shown: {0}; without a terminal use `tidings run`")]
    Terminal(#[from] io::Error),
}

/// Shows the screen until the person quits or a signal ends it. The terminal is left as it was found, whatever happens.
///
/// It has to be awaited on the thread that it was started on: a panic there gives the terminal back, one of another
/// thread only goes to the log.
///
/// # Errors
/// Unusable keys, or a terminal that is none or fails.
pub async fn run(handle: Handle, options: Options) -> Result<Exit, UiError> {
    let model = Model::new(Setup {
        theme: options.theme,
        keymap: Keymap::new(&options.keys)?,
        title: options.title,
        bell: options.bell,
        desktop: options.desktop,
        ascii: options.ascii,
        zone: options.zone,
        now: options.clock.now(),
    });
    let signals = Signals::new()?;
    let terminal = Terminal::take(options.mouse)?;
    let (sender, answers) = mpsc::channel(ANSWERS);
    let app = App {
        model,
        terminal,
        handle,
        clock: options.clock,
        sender,
        tasks: JoinSet::new(),
        drawn: 0,
        next_frame: Instant::now(),
        exit: None,
    };
    match app.run(signals, answers).await {
        Err(UiError::Terminal(error)) if is_gone(&error) => Ok(Exit::HungUp),
        ended => ended,
    }
}

/// Whether the terminal is no longer there: its reader may learn of that before the signal comes.
fn is_gone(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::IO | Errno::PIPE | Errno::NXIO))
}

struct App {
    model: Model,
    terminal: Terminal,
    handle: Handle,
    clock: Arc<dyn Clock>,
    /// Answers and timers come back here.
    sender: mpsc::Sender<Message>,
    /// Questions and timers under way; they end with the screen.
    tasks: JoinSet<()>,
    /// The revision on the terminal.
    drawn: u64,
    next_frame: Instant,
    exit: Option<Exit>,
}

impl App {
    async fn run(
        mut self,
        mut signals: Signals,
        mut answers: mpsc::Receiver<Message>,
    ) -> Result<Exit, UiError> {
        let mut input = EventStream::new();
        let mut snapshots = self.handle.snapshots();
        let mut has_engine = true;
        let (width, height) = self.terminal.size()?;
        self.take_in(Message::Resize(width, height))?;
        // The channel's first value is a snapshot only if the engine has published one.
        let first = snapshots.borrow_and_update().clone();
        if first.revision > 0 || first.at > 0 {
            self.take_in(Message::Snapshot(first))?;
        }
        loop {
            if let Some(exit) = self.exit {
                return Ok(exit);
            }
            let is_dirty = self.model.revision() != self.drawn;
            if is_dirty && Instant::now() >= self.next_frame {
                self.draw()?;
                continue;
            }
            let next_frame = self.next_frame;
            let next_second = self.next_second();
            tokio::select! {
                biased;
                event = input.next() => match event {
                    Some(Ok(event)) => self.input(event)?,
                    Some(Err(error)) => return Err(error.into()),
                    None => return Ok(Exit::HungUp),
                },
                event = signals.next() => self.signalled(event)?,
                Some(message) = answers.recv() => self.take_in(message)?,
                // Not before the next frame: snapshots that come faster than frames are not even indexed.
                changed = async { sleep_until(next_frame).await; snapshots.changed().await }, if has_engine => {
                    let message = if changed.is_ok() {
                        Message::Snapshot(snapshots.borrow_and_update().clone())
                    } else {
                        has_engine = false;
                        Message::EngineGone
                    };
                    self.take_in(message)?;
                }
                () = sleep_until(next_frame), if is_dirty => {}
                () = sleep_until(next_second), if self.model.shows_ages() => {
                    self.take_in(Message::Tick(self.clock.now()))?;
                }
                Some(_) = self.tasks.join_next(), if !self.tasks.is_empty() => {}
            }
        }
    }

    /// When the clock shows the next second. A clock that runs faster is still read only once a second.
    fn next_second(&self) -> Instant {
        let into = self.clock.now().rem_euclid(SECOND);
        Instant::now() + Duration::from_millis(u64::try_from(SECOND - into).unwrap_or(1000))
    }

    fn draw(&mut self) -> io::Result<()> {
        let model = &self.model;
        self.terminal.draw(|frame| view(model, frame))?;
        self.drawn = self.model.revision();
        self.next_frame = Instant::now() + FRAME;
        Ok(())
    }

    fn input(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Key(key) => self.take_in(Message::Key(key)),
            Event::Paste(text) => self.take_in(Message::Paste(text)),
            Event::Resize(width, height) => self.take_in(Message::Resize(width, height)),
            Event::Mouse(mouse) => match pointed(mouse) {
                Some(pointed) => self.take_in(Message::Mouse(pointed)),
                None => Ok(()),
            },
            Event::FocusGained | Event::FocusLost => Ok(()),
        }
    }

    fn signalled(&mut self, event: Signalled) -> io::Result<()> {
        match event {
            Signalled::End(exit) => self.exit = Some(exit),
            Signalled::Continued => {
                self.terminal.resume()?;
                let (width, height) = self.terminal.size()?;
                self.take_in(Message::Resize(width, height))?;
            }
        }
        Ok(())
    }

    /// Everything that happens passes here; the time comes with it.
    fn take_in(&mut self, message: Message) -> io::Result<()> {
        update(&mut self.model, Message::Tick(self.clock.now()));
        for effect in update(&mut self.model, message) {
            self.carry_out(effect)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Ask(ticket, request) => {
                let (handle, sender) = (self.handle.clone(), self.sender.clone());
                self.tasks.spawn(async move {
                    let answer = handle.ask(request).await;
                    // The receiver is gone only when the screen is.
                    let _ = sender.send(Message::Answer(ticket, answer)).await;
                });
            }
            Effect::After(time, timer) => {
                let sender = self.sender.clone();
                self.tasks.spawn(async move {
                    tokio::time::sleep(time).await;
                    let _ = sender.send(Message::Timer(timer)).await;
                });
            }
            Effect::Copy(text) => {
                if let Err(error) = self.terminal.copy(&text) {
                    let text =
                        format!("copying failed: {error}; select the text with the mouse instead");
                    return self.take_in(Message::Trouble(text));
                }
            }
            Effect::Save { path, text } => {
                let sender = self.sender.clone();
                self.tasks.spawn(async move {
                    let path = save::place(&path, std::env::home_dir());
                    // A slow disk must not hold up the screen.
                    let saved = spawn_blocking(move || save::save(&path, &text)).await;
                    let message = match saved {
                        Ok(Ok(text)) => Message::Done(text),
                        Ok(Err(text)) => Message::Trouble(text),
                        Err(error) => Message::Trouble(format!("saving failed: {error}")),
                    };
                    let _ = sender.send(message).await;
                });
            }
            Effect::Bell => self.terminal.ring()?,
            Effect::Notify(text) => self.terminal.notify(&text)?,
            Effect::Suspend => {
                self.terminal.suspend()?;
                let (width, height) = self.terminal.size()?;
                self.take_in(Message::Resize(width, height))?;
            }
            Effect::Redraw => self.terminal.forget()?,
            Effect::Quit => self.exit = Some(Exit::Quit),
        }
        Ok(())
    }
}

/// What the mouse means; moves and other buttons mean nothing.
fn pointed(mouse: MouseEvent) -> Option<Pointed> {
    let gesture = match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Gesture::Click,
        MouseEventKind::ScrollUp => Gesture::ScrollUp,
        MouseEventKind::ScrollDown => Gesture::ScrollDown,
        _ => return None,
    };
    Some(Pointed { gesture, column: mouse.column, row: mouse.row })
}

/// What a signal asks for.
#[derive(Clone, Copy)]
enum Signalled {
    End(Exit),
    /// The process was stopped and goes on: the terminal may be anyone's by now.
    Continued,
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    continued: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            continued: signal(SignalKind::from_raw(SignalNumber::CONT.as_raw()))?,
        })
    }

    async fn next(&mut self) -> Signalled {
        tokio::select! {
            _ = self.interrupt.recv() => Signalled::End(Exit::Quit),
            _ = self.terminate.recv() => Signalled::End(Exit::Terminated),
            _ = self.hang_up.recv() => Signalled::End(Exit::HungUp),
            _ = self.continued.recv() => Signalled::Continued,
        }
    }
}
