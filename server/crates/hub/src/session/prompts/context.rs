//! `/context`: what fills the model's context.

use std::fmt::Write;
use std::sync::Arc;

use agent::context::{Contents, Filling, Known, Part};
use ports::model::Model;
use protocol::model::ModelInfo;
use protocol::session::Mode;

use super::preparation::Preparation;
use super::prepare::{model_of_turn, told};
use crate::config::Config;

/// Tells what would fill the next request in a mode, in Markdown. `chosen` is the model that was chosen with it, if one
/// was, by its name.
///
/// # Errors
/// There is no model that could be asked, in words.
pub(super) async fn context(
    preparation: &Preparation,
    mode: Mode,
    chosen: Option<(Arc<dyn Model>, String)>,
) -> Result<String, String> {
    let (model, ..) = model_of_turn(preparation, mode, chosen).await;
    let model = model.map_err(|error| error.message)?;
    let told = told(preparation, mode, &model.info().id).await;
    // Another vendor counts otherwise.
    let of_it = preparation.counted.as_ref().filter(|(_, counted)| *counted == model.info().id);
    let filling = Filling::of(&Contents {
        model: model.info(),
        thinking: model.thinking_tokens(),
        system: &told.system,
        rules: &told.rules,
        tools: &told.offered,
        messages: &preparation.messages,
        counted: of_it.map(|(counted, _)| *counted),
    });
    Ok(in_words(&filling, model.info(), told.offered.len(), &preparation.config))
}

fn in_words(filling: &Filling, model: &ModelInfo, tools: usize, config: &Config) -> String {
    let share = |tokens: u64| percent(tokens, filling.window);
    let Filling { parts, used, known, window, answer, full } = filling;
    let how = match known {
        Known::Counted => "by its vendor's last count",
        Known::InPart => "by its vendor's last count, with an estimate of what came after it",
        Known::Estimated => "estimated",
    };
    let (tokens, of) = (short(*used), short(*window));
    let mut text = format!("`{}`: {tokens} of {of} tokens used ({}), {how}.\n\n", model.id, share(*used));
    for (part, tokens) in parts {
        let number = if *part == Part::Tools { format!(" ({tools})") } else { String::new() };
        let _ = writeln!(text, "- {}{number}: {} ({})", part.words(), short(*tokens), share(*tokens));
    }
    let _ = writeln!(text, "- kept free for an answer: {} ({})", short(*answer), share(*answer));
    let left = full.saturating_sub(*used);
    let has_results = parts.iter().any(|(part, _)| *part == Part::Results);
    let room = match (config.auto_compact, has_results) {
        (true, true) => "the oldest tool results are removed, or a handover takes the place of the earlier part",
        (true, false) => "a handover takes the place of the earlier part",
        (false, true) => "the oldest tool results are removed",
        (false, false) => "there is no tool result to remove, so it is time for `/compact`",
    };
    let then = if config.context_promotion { "a larger model of the provider goes on, or " } else { "" };
    let _ = write!(text, "- left: {} ({})\n\nAt {} tokens, {then}{room}.", short(left), share(left), short(*full));
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
    if tokens > 0 && percent < 1.0 { "under 1%".to_owned() } else { format!("{percent:.0}%") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_told_with_what_is_left_and_when_results_are_removed() {
        let model = serde_json::json!({ "id": "p/m", "name": "m", "provider": "p", "contextTokens": 200_000,
            "maxOutputTokens": 32_000, "available": true });
        let model = serde_json::from_value(model).unwrap();
        let parts =
            vec![(Part::Instructions, 3_140), (Part::Tools, 9_000), (Part::Prompts, 120), (Part::Results, 30_000)];
        let known = Known::Counted;
        let filling = Filling { parts, used: 42_260, known, window: 200_000, answer: 32_000, full: 154_560 };
        let config = |context_promotion, auto_compact| {
            let mut config = Config::default();
            (config.settings.context_promotion, config.settings.auto_compact) = (context_promotion, auto_compact);
            config
        };
        let words = in_words(&filling, &model, 21, &config(false, false));
        for line in [
            "`p/m`: 42.3k of 200k tokens used (21%), by its vendor's last count.",
            "- Azimuth's instructions: 3.1k (2%)",
            "- tool descriptions (21): 9.0k (4%)",
            "- your prompts, with what they mention, and notes: 120 (under 1%)",
            "- tool results: 30.0k (15%)",
            "- kept free for an answer: 32.0k (16%)",
            "- left: 112k (56%)",
            "At 154k tokens, the oldest tool results are removed.",
        ] {
            assert!(words.lines().any(|known| known == line), "{line}\n{words}");
        }
        assert!(in_words(&filling, &model, 21, &config(true, true)).contains("At 154k tokens, a larger model"));
        let words = in_words(&filling, &model, 21, &config(false, true));
        assert!(words.ends_with("are removed, or a handover takes the place of the earlier part."), "{words}");
        let nothing = Filling { parts: vec![(Part::Prompts, 120)], known: Known::Estimated, ..filling };
        let words = in_words(&nothing, &model, 21, &config(false, false));
        assert!(words.contains(", estimated.") && words.ends_with("so it is time for `/compact`."), "{words}");
    }
}
