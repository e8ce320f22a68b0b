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
    /// Write a picture (SVG) of a view at one moment of the story, and show no screen: main, delta, graph, explain, upstream,
    /// catalog, queue, storage, findings or help
    #[arg(long, value_name = "VIEW")]
    pub picture: Option<String>,
    /// Where the picture goes; without it, to standard output
    #[arg(long, value_name = "FILE", requires = "picture")]
    pub out: Option<std::path::PathBuf>,
    /// Columns and rows of the picture
    #[arg(long, value_name = "COLUMNSxROWS", requires = "picture", default_value = "140x40", value_parser = size)]
    pub size: (u16, u16),
}

/// Reads columns and rows, as 140x40.
fn size(text: &str) -> Result<(u16, u16), String> {
    let parsed = text.split_once('x').and_then(|(columns, rows)| {
        let side = |text: &str| text.parse().ok().filter(|side| (10..=400).contains(side));
        Some((side(columns)?, side(rows)?))
    });
    parsed.ok_or_else(|| "a size is columns and rows from 10 to 400, such as 140x40".into())
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
    fn a_size_has_two_sides() {
        assert_eq!(size("80x24"), Ok((80, 24)));
        for text in ["", "80", "80x", "x24", "9x24", "80x401", "80 x 24"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_speed_is_neither_still_nor_a_blur() {
        assert_eq!(speed("0.5"), Ok(0.5));
        for text in ["0", "-1", "101", "inf", "NaN", "fast", ""] {
            assert!(speed(text).is_err(), "{text}");
        }
    }
}
