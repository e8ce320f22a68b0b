//! The alerts' part of the loop: looking, telling on threads of their own, remembering what is open.

use super::{Internal, Runner};
use crate::engine::EngineError;
use crate::engine::alerting::tell_aside;
use crate::engine::alerts::Alerts;
use crate::engine::snapshot::Snapshot;

impl Runner {
    /// A new owner goes on with the alerts that are open.
    pub(super) fn take_over_alerts(&mut self) {
        let open = self.engine.journal().alerts().map_err(EngineError::from);
        match open {
            Ok(open) => self.alerts = Alerts::new(self.options.alerts.clone(), &open),
            Err(error) => self.problem(format!("could not read the open alerts: {error}")),
        }
    }

    /// Looks at a picture as the owner, and tells what is to be told.
    pub(super) fn look_for_alerts(&mut self, snapshot: &Snapshot) {
        if self.lock.is_none() || self.alerts.rules().is_empty() {
            return;
        }
        let told = self.alerts.look(snapshot);
        if told.is_empty() {
            return;
        }
        let open = self.alerts.open();
        let written = self.engine.journal_mut().set_alerts(&open).map_err(EngineError::from);
        self.report("could not write down the open alerts", written);
        let back = self.internal.clone();
        tell_aside(self.alerts.rules(), told, move |failed| {
            let _ = back.send(Internal::NotTold(failed));
        });
    }
}
