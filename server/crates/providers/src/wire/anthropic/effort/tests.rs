use ThinkingLevel::{High, Low, Max, Medium, Off};
use ports::model::{Before, LevelAt, Message, ModelEvent, Request, Response};
use proptest::prelude::*;
use protocol::model::ThinkingLevel;
use serde_json::{Value, json};

use super::changes_in_place;
use crate::compat::Compat;
use crate::data::Thinking;
use crate::wire::testing::{assert_prefixes_are_stable, body, call, request, result, says, target, text};
use crate::wire::{Pieces, Target, Wire};

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// A model whose effort may change within a conversation, chosen with a level.
fn opus(level: Option<ThinkingLevel>) -> Target {
    Target {
        compat: Compat { effort_messages: Some(true), ..Compat::default() },
        own_effort: Some(Medium),
        bound: true,
        level,
        ..target("anthropic", "claude-opus-5-5", Thinking::Always)
    }
}

/// Three turns.
fn turns() -> Vec<Message> {
    vec![
        says("one"),
        Message::Assistant(vec![call("a", "read_file", json!({}))]),
        Message::ToolResults(vec![result("a", "ok")]),
        Message::Assistant(vec![text("1")]),
        says("two"),
        Message::Assistant(vec![text("2")]),
        says("three"),
    ]
}

fn asked(messages: &[Message], levels: &[(usize, Option<ThinkingLevel>)]) -> Request {
    let levels = levels.iter().map(|(at, level)| LevelAt { at: *at, level: *level }).collect();
    Request { before: Before { levels, ..Before::default() }, ..request(messages.to_vec()) }
}

/// The effort at the head, and the roles of the messages, where a change of the effort stands as its name.
fn said(target: &Target, request: &Request) -> (Value, String) {
    let sent = body(Wire::Anthropic, target, request);
    let said = |message: &Value| match message["output_config"]["effort"].as_str() {
        Some(effort) => {
            let expected = json!({ "role": "system", "content": [], "output_config": { "effort": effort } });
            assert_eq!(*message, expected);
            effort.to_owned()
        }
        None => message["role"].as_str().unwrap().to_owned(),
    };
    let said: Vec<_> = sent["messages"].as_array().unwrap().iter().map(said).collect();
    (sent["output_config"]["effort"].clone(), said.join(" "))
}

fn betas(target: &Target, request: &Request) -> String {
    let headers = Wire::Anthropic.headers(target, request);
    let betas: Vec<_> = headers.iter().filter(|(name, _)| *name == "anthropic-beta").collect();
    assert!(betas.len() <= 1, "{betas:?}");
    betas.first().map(|(_, value)| value.to_string()).unwrap_or_default()
}

#[test]
fn a_level_that_changes_stands_before_the_first_message_that_it_counts_for() {
    let levels = [(0, Some(High)), (4, Some(Low)), (6, Some(High))];
    let first = asked(&turns()[..1], &levels[..1]);
    assert_eq!(said(&opus(Some(High)), &first), (json!("high"), "user".to_owned()));
    assert_eq!(betas(&opus(Some(High)), &first), "thinking-binding-controls-2026-08-01", "nothing is asked for early");
    let second = asked(&turns()[..5], &levels[..2]);
    let alternating = "user assistant user assistant low user";
    assert_eq!(said(&opus(Some(Low)), &second), (json!("high"), alternating.to_owned()));
    let both = "thinking-binding-controls-2026-08-01,mid-conversation-output-config-2026-07-01";
    assert_eq!(betas(&opus(Some(Low)), &second), both);
    let free = Target { bound: false, ..opus(Some(Low)) };
    assert_eq!(betas(&free, &second), "mid-conversation-output-config-2026-07-01");
    let third = asked(&turns(), &levels);
    assert_eq!(said(&opus(Some(High)), &third), (json!("high"), format!("{alternating} assistant high user")));
    assert_eq!(
        said(&opus(Some(High)), &asked(&turns()[..2], &[(0, Some(Low)), (2, Some(High))])),
        (json!("low"), "user assistant high".to_owned()),
        "it may be the last"
    );
}

#[test]
fn the_models_own_effort_is_left_out_at_the_head_and_named_within_the_conversation() {
    let back = asked(&turns(), &[(0, None), (4, Some(Max)), (6, None)]);
    assert_eq!(
        said(&opus(None), &back),
        (Value::Null, "user assistant user assistant max user assistant medium user".to_owned())
    );
    let same = asked(&turns(), &[(0, None), (4, Some(Medium)), (6, None)]);
    assert_eq!(said(&opus(None), &same), (Value::Null, "user assistant user assistant user assistant user".to_owned()));
}

#[test]
fn where_the_conversation_cannot_tell_the_level_the_head_does() {
    let plain = "user assistant user assistant user assistant user";
    let levels = [(0, Some(High)), (4, Some(Low))];
    let at_head = |target: &Target, levels: &[(usize, Option<ThinkingLevel>)], effort: &Value| {
        let request = asked(&turns(), levels);
        assert_eq!(said(target, &request), (effort.clone(), plain.to_owned()));
        assert!(!betas(target, &request).contains("mid-conversation"));
    };
    let low = json!("low");
    at_head(&opus(Some(Low)), &[], &low);
    at_head(&Target { own_effort: None, ..opus(Some(Low)) }, &levels, &low);
    let no_betas = Compat { betas: Some(false), ..opus(None).compat };
    let elsewhere = Target { compat: Compat::default(), ..opus(Some(Low)) };
    let gateway = Target { compat: no_betas, ..opus(Some(Low)) };
    for target in [elsewhere, gateway] {
        assert!(!changes_in_place(&target));
        at_head(&target, &levels, &low);
    }
    assert!(changes_in_place(&opus(None)));
    // The log has another level than the request, as when another model went on in the turn.
    at_head(&opus(Some(Max)), &levels, &json!("max"));
    at_head(&opus(Some(Off)), &[(0, Some(High)), (4, Some(Low)), (6, Some(Off))], &Value::Null);
}

#[test]
fn a_turn_without_thinking_leaves_the_conversation_with_thinking_as_it_was() {
    let levels = [(0, Some(High)), (4, Some(Off)), (6, Some(Low))];
    let after = asked(&turns(), &levels);
    assert_eq!(
        said(&opus(Some(Low)), &after),
        (json!("high"), "user assistant user assistant user assistant low user".to_owned())
    );
    let never_off = Target { levels: vec![Low, Medium, High], ..opus(Some(Low)) };
    assert_eq!(
        said(&never_off, &after),
        (json!("high"), "user assistant user assistant low user assistant user".to_owned()),
        "the lowest level is the nearest"
    );
}

#[test]
fn nothing_stands_between_a_call_and_its_result() {
    let broken_off = asked(&turns()[..3], &[(0, Some(High)), (2, Some(Low))]);
    assert_eq!(said(&opus(Some(Low)), &broken_off), (json!("high"), "user assistant user low".to_owned()));
}

#[test]
fn of_changes_at_one_place_the_last_counts() {
    let twice = [(0, Some(High)), (4, Some(Low)), (4, Some(Max))];
    assert_eq!(
        said(&opus(Some(Max)), &asked(&turns(), &twice)),
        (json!("high"), "user assistant user assistant max user assistant user".to_owned())
    );
    // The first of them has waited until the results were told.
    let at_results = [(0, Some(High)), (2, Some(Low)), (3, Some(Max))];
    assert_eq!(
        said(&opus(Some(Max)), &asked(&turns(), &at_results)),
        (json!("high"), "user assistant user max assistant user assistant user".to_owned())
    );
    let at_end = [(0, Some(High)), (2, Some(Low)), (9, Some(Max))];
    assert_eq!(
        said(&opus(Some(Max)), &asked(&turns()[..3], &at_end)),
        (json!("high"), "user assistant user max".to_owned())
    );
}

#[test]
fn the_first_message_is_the_users() {
    let request = asked(&turns()[..1], &[(0, Some(High)), (0, Some(Low))]);
    assert_eq!(said(&opus(Some(Low)), &request), (json!("low"), "user".to_owned()));
}

#[test]
fn thinking_is_bound_to_the_efforts_before_it() {
    let signed = |level: ThinkingLevel, levels: &[(usize, Option<ThinkingLevel>)]| {
        let mut decoder = Wire::Anthropic.decoder(&opus(Some(level)), &asked(&turns(), levels));
        let mut pieces = Pieces::default();
        let thinking = json!({ "type": "thinking", "thinking": "so", "signature": "c2ln" });
        let content = json!([thinking, { "type": "text", "text": "3" }]);
        let whole = json!({ "type": "message", "content": content, "stop_reason": "end_turn" });
        decoder.event(whole.to_string().as_bytes(), &mut pieces).unwrap();
        let answer = std::iter::from_fn(|| pieces.take()).last();
        let Some(ModelEvent::Finished(Response { content, .. })) = answer else { panic!("{answer:?}") };
        content
    };
    let levels = [(0, Some(High)), (4, Some(Low))];
    let next = |content| [turns(), vec![Message::Assistant(content), says("four")]].concat();
    let goes_back = |target: &Target, levels: &[(usize, Option<ThinkingLevel>)]| {
        let next = asked(&next(signed(Low, &[(0, Some(High)), (4, Some(Low))])), levels);
        body(Wire::Anthropic, target, &next).to_string().contains("c2ln")
    };
    assert!(goes_back(&opus(Some(Low)), &levels));
    assert!(goes_back(&opus(Some(Max)), &[levels[0], levels[1], (8, Some(Max))]), "a later change stands behind it");
    assert!(!goes_back(&opus(Some(Low)), &[levels[0], (6, Some(Low))]), "a change has moved");
    let refused = Target { own_effort: None, ..opus(Some(Low)) };
    assert!(!goes_back(&refused, &levels), "a change is gone");
}

proptest! {
    #[test]
    fn whatever_the_levels_were_a_request_begins_with_the_one_before(
        chosen in prop::collection::vec(prop::option::of(prop_oneof![Just(Low), Just(Medium), Just(High), Just(Max)]), 4),
        again in 0_usize..4,
    ) {
        // The turns begin where the user speaks; one of them failed, and the user went on.
        let mut messages = turns();
        messages.insert(5, says("still two"));
        let begins = [0, 4, 5, 7];
        let mut sent = Vec::new();
        for turn in 0..begins.len() {
            let levels: Vec<_> = begins.into_iter().zip(chosen.iter().copied()).take(turn + 1).collect();
            let end = begins.get(turn).map_or(messages.len(), |at| at + 1);
            let request = asked(&messages[..end], &levels);
            let bytes = body(Wire::Anthropic, &opus(chosen[turn]), &request);
            if turn == again {
                prop_assert_eq!(&bytes, &body(Wire::Anthropic, &opus(chosen[turn]), &request));
            }
            sent.push(bytes);
        }
        // The blocks, each with its role, are what the cache goes by.
        let blocks = |body: &Value| -> Vec<String> {
            let text = body["messages"].to_string().replace(MARK, "");
            let messages: Vec<Value> = serde_json::from_str(&text).unwrap();
            messages.iter().flat_map(|message| match message["output_config"].is_null() {
                true => message["content"].as_array().unwrap().iter().map(|block| format!("{} {block}", message["role"])).collect(),
                false => vec![message["output_config"].to_string()],
            }).collect()
        };
        for pair in sent.windows(2) {
            let (before, after) = (blocks(&pair[0]), blocks(&pair[1]));
            prop_assert!(after.starts_with(&before), "{:?}\nis no beginning of\n{:?}", before, after);
            prop_assert_eq!(&pair[0]["output_config"], &pair[1]["output_config"]);
        }
    }
}

proptest! {
    #[test]
    fn wherever_levels_change_no_two_changes_are_neighbours_and_the_last_is_the_one_asked_for(
        changes in prop::collection::vec(
            (0_usize..9, prop::option::of(prop_oneof![Just(Low), Just(Medium), Just(High), Just(Max), Just(Off)])),
            1..12,
        ),
        end in 1_usize..=7,
    ) {
        let mut changes = changes;
        changes.sort_by_key(|(at, _)| *at);
        let messages = &turns()[..end];
        let now = changes.last().and_then(|(_, level)| *level);
        let sent = body(Wire::Anthropic, &opus(now), &asked(messages, &changes));
        let sent_messages = sent["messages"].as_array().unwrap();
        let is_change = |message: &Value| message["role"] == "system";
        prop_assert!(!is_change(&sent_messages[0]));
        for pair in sent_messages.windows(2) {
            prop_assert!(!is_change(&pair[0]) || !is_change(&pair[1]), "{:?}", sent_messages);
        }
        let last = sent_messages.iter().rev().find(|message| is_change(message));
        let effort = |value: &Value| value["output_config"]["effort"].as_str().map(str::to_owned);
        if now != Some(Off) {
            let in_force = last.and_then(effort).or_else(|| effort(&sent)).unwrap_or_else(|| Medium.name().to_owned());
            prop_assert_eq!(in_force, now.unwrap_or(Medium).name());
        }
    }
}

#[test]
fn a_conversation_at_one_level_is_written_as_before() {
    assert_prefixes_are_stable(Wire::Anthropic, &opus(Some(High)), &Value::Null, MARK);
}
