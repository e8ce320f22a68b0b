//! `demo`: what it can be told. It has a screen, so `main` plays it.

use clap::Args;

/// The arguments of `demo`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which team is made up: the same number gives the same story
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How fast the story runs, from 0.1 to 100: 2 is twice as fast
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
}

fn speed(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|speed| (0.1..=100.0).contains(speed))
        .ok_or_else(|| "a speed is a number from 0.1 to 100".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_neither_still_nor_a_blur() {
        assert_eq!(speed("0.5"), Ok(0.5));
        for text in ["0", "-1", "101", "inf", "NaN", "fast", ""] {
            assert!(speed(text).is_err(), "{text}");
        }
    }
}
