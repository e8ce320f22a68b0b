//! `alerts test`: fires each configured alert once.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::human::Table;
use super::output::Output;
use super::{CliError, Context};
use crate::engine::alerting::tell;
use crate::engine::alerts::Alerts;

/// The arguments of `alerts`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Fire each configured alert once, and say whether it was told
    Test,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tested {
    /// Whether all were told.
    ok: bool,
    alerts: Vec<One>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct One {
    name: String,
    told: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let What::Test = arguments.what;
    let alerts = Alerts::new(context.config.alert_rules(), &[]);
    if alerts.rules().is_empty() {
        return Err(CliError::Failed(
            "no alerts are configured; the config has a table for each, [[alerts]]".into(),
        ));
    }
    let tried: Vec<_> = alerts
        .test(context.clock.now())
        .into_iter()
        .map(|(rule, alert)| {
            let error = tell(&rule, &alert).err();
            One { name: rule.name, told: error.is_none(), error }
        })
        .collect();
    let body = Tested { ok: tried.iter().all(|one| one.told), alerts: tried };
    output.show(&body, || {
        let mut table = Table::new(["ALERT", "TOLD"]);
        for one in &body.alerts {
            table.row([one.name.as_str().into(), one.error.as_deref().unwrap_or("yes").into()]);
        }
        table.or("")
    })?;
    output.flush()?;
    if body.ok { Ok(()) } else { Err(CliError::Judged(1)) }
}
