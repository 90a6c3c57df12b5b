//! `/context`: what fills the model's context.

use std::fmt::Write;

use agent::context::{Contents, Filling};

use super::commands::Done;
use super::preparation::Preparation;
use super::prepare::{model_of_turn, told};

/// Tells what would fill the next request, in Markdown.
///
/// # Errors
/// There is no model that could be asked, in words.
pub(super) async fn context(preparation: &Preparation, done: &Done) -> Result<String, String> {
    let mode = done.mode.or(preparation.mode).unwrap_or(preparation.info.mode);
    let (model, ..) = model_of_turn(preparation, mode, done.model.clone()).await;
    let model = model.map_err(|error| error.message)?;
    let told = told(preparation, mode, &model.info().id).await;
    let filling = Filling::of(&Contents {
        model: model.info(),
        thinking: model.thinking_tokens(),
        system: &told.system,
        rules: &told.rules,
        tools: &told.offered,
        messages: &preparation.messages,
        counted: done.context,
    });
    Ok(in_words(&filling, &model.info().id, told.offered.len()))
}

fn in_words(filling: &Filling, model: &str, tools: usize) -> String {
    let share = |tokens: u64| percent(tokens, filling.window);
    let used = filling.used();
    let how = if filling.is_counted { "as its vendor counted at last" } else { "estimated; nothing was counted yet" };
    let (tokens, window) = (short(used), short(filling.window));
    let mut text = format!("`{model}`: {tokens} of {window} tokens ({}) are filled, {how}.\n\n", share(used));
    for (part, tokens) in &filling.parts {
        let number = if *part == agent::context::Part::Tools { format!(" ({tools})") } else { String::new() };
        let _ = writeln!(text, "- {}{number}: {} ({})", part.words(), short(*tokens), share(*tokens));
    }
    let _ = writeln!(text, "- kept free for an answer: {} ({})", short(filling.answer), share(filling.answer));
    let left = filling.window.saturating_sub(filling.answer).saturating_sub(used);
    let _ = write!(text, "- left: {} ({})\n\n", short(left), share(left));
    let _ = match used > filling.full {
        true => write!(text, "It is nearly full: the oldest results of tools are taken out before the next request."),
        false => {
            write!(text, "The oldest results of tools are taken out once {} tokens are filled.", short(filling.full))
        }
    };
    text
}

/// A number of tokens as people say it, such as `12.3k`.
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..100_000 => format!("{:.1}k", tokens as f64 / 1_000.0),
        100_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{:.1}M", tokens as f64 / 1_000_000.0),
    }
}

fn percent(tokens: u64, of: u64) -> String {
    let percent = 100.0 * tokens as f64 / of.max(1) as f64;
    if tokens > 0 && percent < 1.0 { "under 1 %".to_owned() } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use agent::context::Part;

    use super::*;

    #[test]
    fn the_parts_are_told_with_what_is_left_and_when_results_are_taken_out() {
        let parts =
            vec![(Part::Instructions, 3_140), (Part::Tools, 9_000), (Part::Prompts, 120), (Part::Results, 30_000)];
        let filling = Filling { parts, is_counted: true, window: 200_000, answer: 32_000, full: 154_560 };
        let words = in_words(&filling, "p/m", 21);
        for line in [
            "`p/m`: 42.3k of 200k tokens (21 %) are filled, as its vendor counted at last.",
            "- Azimuth's instructions: 3.1k (2 %)",
            "- descriptions of tools (21): 9.0k (4 %)",
            "- your prompts, with the text of what they mention: 120 (under 1 %)",
            "- results of tools: 30.0k (15 %)",
            "- kept free for an answer: 32.0k (16 %)",
            "- left: 125k (63 %)",
            "The oldest results of tools are taken out once 154k tokens are filled.",
        ] {
            assert!(words.lines().any(|known| known == line), "{line}\n{words}");
        }
        let full = in_words(&Filling { full: 40_000, is_counted: false, ..filling }, "p/m", 21);
        assert!(full.contains("estimated") && full.contains("It is nearly full"), "{full}");
    }
}
