use proptest::prelude::*;

use super::*;

fn commands(input: &str) -> Vec<Result<Command, String>> {
    parse(input).invocations.into_iter().map(|invocation| invocation.command).collect()
}

fn model(name: &str) -> Result<Command, String> {
    Ok(Command::Model(Some(name.to_owned())))
}

#[test]
fn a_command_alone_leaves_nothing_for_the_model() {
    let parsed = parse("/model gpt");
    assert_eq!(parsed.invocations.len(), 1);
    assert_eq!(parsed.invocations[0].span, 0..10);
    assert_eq!(parsed.invocations[0].text, "/model gpt");
    assert_eq!(parsed.invocations[0].command, model("gpt"));
    assert_eq!(parsed.remaining, "");
}

#[test]
fn paths_and_unknown_names_stay_text() {
    for input in
        ["/usr/bin/env", "a/new", "see/help", "/unknown x", "/newer", "/new/x", "(/new)", "http://x/new", "\"/new\""]
    {
        let parsed = parse(input);
        assert_eq!(parsed.invocations, [], "{input}");
        assert_eq!(parsed.remaining, input);
    }
}

#[test]
fn several_commands_are_executed_in_order_and_the_rest_goes_to_the_model() {
    let parsed = parse("/mode ask /model gpt explain the parser\n/costs");
    let all: Vec<_> = parsed.invocations.iter().map(|invocation| invocation.command.clone()).collect();
    assert_eq!(all, [Ok(Command::Mode(Some(Mode::Ask))), model("gpt"), Ok(Command::Costs)]);
    assert_eq!(parsed.remaining, "  explain the parser\n");
}

#[test]
fn surplus_words_and_the_next_line_are_not_arguments() {
    assert_eq!(parse("/new fix the bug").remaining, " fix the bug");
    assert_eq!(commands("/model\ngpt"), [Ok(Command::Model(None))]);
    assert_eq!(parse("/model\ngpt").remaining, "\ngpt");
    assert_eq!(parse("/model gpt turbo").remaining, " turbo");
    assert_eq!(parse("/help --verbose").remaining, " --verbose");
}

#[test]
fn a_command_ends_the_one_before_it_unless_it_is_quoted() {
    assert_eq!(commands("/model /mode ask"), [Ok(Command::Model(None)), Ok(Command::Mode(Some(Mode::Ask)))]);
    assert_eq!(commands("/model \"/mode ask\""), [model("/mode ask")]);
    assert_eq!(commands("/model '  my model ' x"), [model("  my model ")]);
    assert_eq!(commands("/model \"no end\n/costs"), [model("no end"), Ok(Command::Costs)]);
    assert_eq!(commands("/model ''"), [Ok(Command::Model(None))]);
}

#[test]
fn a_mode_that_asks_less_is_chosen_only_by_who_begins_with_it_and_bypass_only_with_a_yes() {
    let mode = |mode| [Ok(Command::Mode(Some(mode)))];
    assert_eq!(commands("/mode plan"), mode(Mode::Plan));
    assert_eq!(commands("/mode accept-edits go on"), mode(Mode::AcceptEdits));
    assert_eq!(commands("/mode bypass"), [Ok(Command::Bypass { confirmed: false })]);
    assert_eq!(commands("/mode bypass and go"), [Ok(Command::Bypass { confirmed: false })]);
    assert_eq!(parse("/mode bypass and go").remaining, " and go");
    assert_eq!(commands("/mode bypass yes go"), [Ok(Command::Bypass { confirmed: true })]);
    assert_eq!(parse("/mode bypass yes go").remaining, " go");
    for pasted in ["look at this: /mode bypass yes", "then\n/mode accept-edits"] {
        assert!(commands(pasted).is_empty() && parse(pasted).remaining == pasted, "{pasted}");
    }
    assert_eq!(commands("look /mode plan"), mode(Mode::Plan), "what asks more may stand anywhere");
}

#[test]
fn permission_rules_are_listed_and_taken_back_by_their_number() {
    assert_eq!(commands("/permissions"), [Ok(Command::Permissions(None))]);
    assert_eq!(commands("/permissions revoke 2"), [Ok(Command::Permissions(Some(2)))]);
    assert_eq!(parse("/permissions and explain").remaining, " and explain");
    for wrong in ["/permissions revoke", "/permissions revoke 0", "/permissions revoke x"] {
        assert!(matches!(commands(wrong).as_slice(), [Err(_)]), "{wrong}");
    }
}

#[test]
fn what_is_wrong_with_a_command_is_said() {
    let Some(Err(mode)) = commands("/mode fast").pop() else { panic!() };
    assert!(mode.contains("`fast`") && mode.contains("accept-edits"));
    let Some(Err(resume)) = commands("/resume").pop() else { panic!() };
    assert!(resume.contains("/conversations"));
}

#[test]
fn edits_are_accepted_as_they_come_here_or_in_the_project() {
    let auto = |switch| [Ok(Command::Auto(switch))];
    assert_eq!(commands("/auto"), auto(None));
    assert_eq!(commands("/auto on"), auto(Some((true, AutoScope::Session))));
    assert_eq!(commands("/auto off --project"), auto(Some((false, AutoScope::Project))));
    assert_eq!(parse("/auto on --project fix it").remaining, " fix it");
    assert!(commands("/auto yes")[0].as_ref().is_err_and(|error| error.contains("`yes`")));
    assert!(commands("/auto --project")[0].is_err());
}

#[test]
fn trust_is_told_or_said() {
    assert_eq!(commands("/trust"), [Ok(Command::Trust(None))]);
    assert_eq!(commands("/trust yes"), [Ok(Command::Trust(Some(true)))]);
    assert_eq!(commands("/trust no"), [Ok(Command::Trust(Some(false)))]);
    assert!(commands("/trust me")[0].as_ref().is_err_and(|error| error.contains("`me`")));
}

#[test]
fn what_is_pasted_switches_nothing_on_and_takes_nothing_back() {
    for pasted in [
        "Explain this page:\n/auto on --project\n",
        "```sh\n/auto on\n```",
        "so /undo --over a.txt",
        "/help and /redo",
        "I /trust yes",
    ] {
        let parsed = parse(pasted);
        assert!(parsed.invocations.iter().all(|it| it.command == Ok(Command::Help)), "{pasted}");
        assert_eq!(parsed.remaining, pasted.trim_start_matches("/help"), "it stays text");
    }
    assert_eq!(commands(" \n/auto on").len(), 1, "blanks before it are nothing");
    assert_eq!(commands("/new /auto on").len(), 2, "and commands are no text");
    assert_eq!(commands("enough /auto off"), [Ok(Command::Auto(Some((false, AutoScope::Session))))]);
    assert_eq!(parse_block("/auto on", false).remaining, "/auto on");
}

#[test]
fn every_command_listed_can_be_parsed() {
    for spec in COMMANDS {
        let argument = match spec.name {
            "auto" => "on",
            "trust" => "yes",
            _ => "ask",
        };
        let results = commands(&format!("/{} {argument}", spec.name));
        assert!(matches!(results.as_slice(), [Ok(_)]), "/{}: {results:?}", spec.name);
        assert!(spec.usage.starts_with(&format!("/{}", spec.name)));
    }
}

#[test]
fn flags_take_values_where_they_are_declared_to() {
    const SPEC: Spec = Spec {
        name: "model",
        usage: "",
        description: "",
        max_positionals: 1,
        flags: &[
            Flag { name: "keep", short: Some('k'), takes_value: true },
            Flag { name: "all", short: Some('a'), takes_value: false },
        ],
    };
    let taken = |input| {
        let (arguments, end) = arguments(input, 0, &SPEC);
        (arguments.positionals, arguments.flags, end)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(taken(" --keep 5 x"), (vec!["x".to_owned()], vec![("keep", some("5"))], 11));
    assert_eq!(taken(" -k 5 -a"), (vec![], vec![("keep", some("5")), ("all", None)], 8));
    assert_eq!(taken(" -k -a"), (vec![], vec![("keep", None), ("all", None)], 6));
    assert_eq!(taken(" -a x -z"), (vec!["x".to_owned()], vec![("all", None)], 5));
    assert_eq!(taken(" --keep /new"), (vec![], vec![("keep", None)], 7));
}

fn token(input_with_cursor: &str) -> (String, TokenKind) {
    let cursor = input_with_cursor.find('|').unwrap();
    let input = input_with_cursor.replace('|', "");
    let token = token_at_cursor(&input, cursor);
    (input[token.span].to_owned(), token.kind)
}

#[test]
fn the_token_under_the_cursor_is_found() {
    let argument_of = |name| TokenKind::Argument(COMMANDS.iter().find(|spec| spec.name == name).unwrap());
    let cases = [
        ("/mo|", "/mo", TokenKind::Command),
        ("fix /mo|de", "/mode", TokenKind::Command),
        ("/|", "/", TokenKind::Command),
        ("/mode |", "", argument_of("mode")),
        ("/mode a|g", "ag", argument_of("mode")),
        ("/mode ask |", "", TokenKind::Text),
        ("/mode ask why|", "why", TokenKind::Text),
        ("/new x|", "x", TokenKind::Text),
        ("/mode\nx|", "x", TokenKind::Text),
        ("/mode /mo|", "/mo", TokenKind::Command),
        ("look at @src/m|ain.rs now", "@src/main.rs", TokenKind::Mention),
        ("/model @|", "@", TokenKind::Mention),
        ("some| text", "some", TokenKind::Text),
        ("|", "", TokenKind::Text),
        ("ä|ö", "äö", TokenKind::Text),
    ];
    for (input, text, kind) in cases {
        assert_eq!(token(input), (text.to_owned(), kind), "{input}");
    }
}

fn labels(input: &str) -> Vec<String> {
    let choice = |value: &str| Choice { value: value.to_owned(), detail: "detail".to_owned() };
    let choices = Choices {
        models: vec![choice("openai/gpt-5"), choice("anthropic/claude"), choice("gpt-local")],
        sessions: vec![choice("a1b2c3")],
    };
    complete(input, input.len(), &choices).1.into_iter().map(|item| item.insert).collect()
}

#[test]
fn names_and_arguments_are_completed_best_first() {
    assert_eq!(labels("/"), COMMANDS.iter().map(|spec| format!("/{}", spec.name)).collect::<Vec<_>>());
    assert_eq!(labels("/mo"), ["/model", "/mode"]);
    assert_eq!(labels("/co"), ["/conversations", "/costs"]);
    assert_eq!(
        labels("/MODE"),
        ["/model", "/mode"].iter().filter(|name| name.contains("mode")).copied().collect::<Vec<_>>()
    );
    assert_eq!(labels("/model GPT"), ["gpt-local", "openai/gpt-5"]);
    assert_eq!(labels("/model "), ["openai/gpt-5", "anthropic/claude", "gpt-local"]);
    assert_eq!(labels("/mode a"), ["ask", "agent", "accept-edits", "plan", "bypass"]);
    assert_eq!(labels("/mode p"), ["plan", "accept-edits", "bypass"]);
    assert_eq!(labels("/resume "), ["a1b2c3"]);
    assert_eq!(labels("/new "), [""; 0]);
    assert_eq!(labels("text"), [""; 0]);
}

proptest! {
    #[test]
    fn parsing_loses_nothing(input in "(/new|/model|/mode ask|/| |\n|\"|'|é|a|-f|@x){0,20}") {
        let parsed = parse(&input);
        let mut rebuilt = parsed.remaining.clone();
        for invocation in &parsed.invocations {
            prop_assert_eq!(&input[invocation.span.clone()], &invocation.text);
            rebuilt.insert_str(invocation.span.start, &invocation.text);
        }
        prop_assert_eq!(rebuilt, input);
    }

    #[test]
    fn a_cursor_anywhere_is_harmless(input in "[/a@ \n\"é]{0,20}", cursor in 0usize..40) {
        let (token, _) = complete(&input, cursor, &Choices::default());
        prop_assert!(input.get(token.span).is_some());
    }
}
