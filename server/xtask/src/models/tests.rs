use serde_json::json;

use super::*;

/// The two catalogues, each with these models of DeepSeek, and empty files of the others.
fn catalogues(pi: &serde_json::Value, lite: &serde_json::Value) -> (tempfile::TempDir, Pi, Lite) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("pi/dist/providers/data");
    let info = folder.path().join("lite/litellm-9.8.7.dist-info");
    let prices = folder.path().join("lite/litellm");
    for folder in [&data, &info, &prices] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(folder.path().join("pi/package.json"), r#"{"version":"1.2.3"}"#).unwrap();
    for file in SHELVES.iter().filter_map(|shelf| shelf.pi) {
        let models = if file == "deepseek" { pi.clone() } else { json!({}) };
        fs::write(data.join(format!("{file}.json")), models.to_string()).unwrap();
    }
    fs::write(prices.join("model_prices_and_context_window_backup.json"), lite.to_string()).unwrap();
    let (pi, lite) = (Pi::open(&folder.path().join("pi")).unwrap(), Lite::open(&folder.path().join("lite")).unwrap());
    (folder, pi, lite)
}

#[test]
fn of_two_catalogues_that_contradict_each_other_the_cautious_one_counts() {
    let model = |id: &str, context: u64| {
        json!({ "id": id, "name": id, "type": "chat", "reasoning": true, "input": ["text", "image"], "contextWindow": context,
            "maxTokens": 9_000, "cost": { "input": 1.0, "output": 2.0, "cacheRead": 0.0, "cacheWrite": 0.0 },
            "compat": { "thinkingFormat": "deepseek", "requiresReasoningContentOnAssistantMessages": true } })
    };
    let pi = json!({ "openai-completions": {
        "1": model("b", 100_000), "2": model("a", 100_000), "3": model("a-20260101", 100_000), "4": model("small", 8_000),
        "5": model("ended", 100_000),
    } });
    let lite = |tokens: u64, price: f64| {
        json!({ "litellm_provider": "deepseek", "mode": "chat", "max_input_tokens": tokens, "max_output_tokens": 10_000,
            "input_cost_per_token": price, "output_cost_per_token": 1e-6, "input_cost_per_token_above_200k_tokens": 4e-6,
            "output_cost_per_token_above_200k_tokens": 8e-6 })
    };
    let mut ended = lite(100_000, 1e-6);
    ended["deprecation_date"] = json!("2026-12-01");
    let lite = json!({ "deepseek/a": lite(90_000, 3e-6), "b": lite(200_000, 5e-7), "deepseek/ended": ended });
    let (_folder, pi, lite) = catalogues(&pi, &lite);
    let text = distil("as_of = \"2026-11-23\"\n", &pi, &lite).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.contains('\t')).collect();
    let rest = "200000 4 8 4 0\talways off medium\timage echo ask=thinking_type";
    let expected = [format!("a\ta\t90000\t9000\t3 2 3 0\t{rest}"), format!("b\tb\t100000\t9000\t1 2 1 0\t{rest}")];
    assert_eq!(lines, expected, "sorted, without what is dated, too small or ends");
    assert!(text.contains("pi-ai 1.2.3 and PyPI litellm 9.8.7") && text.contains("as of 2026-11-23"), "{text}");
    assert_eq!(text, distil("as_of = \"2026-11-23\"\n", &pi, &lite).unwrap(), "nothing of it is by chance");
}

#[test]
fn a_region_that_only_the_second_catalogue_has_gets_its_price_and_the_facts_of_the_model_elsewhere() {
    let (folder, ..) = catalogues(&json!({}), &json!({}));
    let model = json!({ "id": "amazon.a-v1:0", "name": "A", "type": "chat", "contextWindow": 100_000, "maxTokens": 9_000,
        "input": ["image"], "cost": { "input": 1.0, "output": 2.0, "cacheRead": 0.5, "cacheWrite": 1.0 } });
    let file = folder.path().join("pi/dist/providers/data/amazon-bedrock.json");
    fs::write(file, json!({ "converse": { "1": model } }).to_string()).unwrap();
    let price = json!({ "litellm_provider": "bedrock_converse", "mode": "chat", "max_input_tokens": 200_000,
        "max_output_tokens": 10_000, "input_cost_per_token": 3e-6, "output_cost_per_token": 4e-6 });
    let prices = json!({ "apac.amazon.a-v1:0": price, "apac.amazon.b-v1:0": price, "us.amazon.a-v1:0": price });
    let path = folder.path().join("lite/litellm/model_prices_and_context_window_backup.json");
    fs::write(path, prices.to_string()).unwrap();
    let (pi, lite) = (Pi::open(&folder.path().join("pi")).unwrap(), Lite::open(&folder.path().join("lite")).unwrap());
    let text = distil("as_of = \"2026-11-23\"\n", &pi, &lite).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.contains('\t')).collect();
    let expected = [
        "amazon.a-v1:0\tA\t100000\t9000\t1 2 0.5 1\t\tnone\timage",
        "apac.amazon.a-v1:0\tA (APAC)\t100000\t9000\t3 4 3 3\t\tnone\timage",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_catalogue_in_another_form_is_named() {
    let (folder, pi, lite) = catalogues(&json!([]), &json!({}));
    let error = distil("", &pi, &lite).unwrap_err().to_string();
    assert!(error.contains("deepseek.json is not in the form that is known"), "{error}");
    let error = Lite::open(&folder.path().join("pi")).err().unwrap().to_string();
    assert!(error.contains("model_prices_and_context_window_backup.json"), "{error}");
}
