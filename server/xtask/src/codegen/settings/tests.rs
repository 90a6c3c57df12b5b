use protocol::settings::{SETTINGS, Stricter, Who};

use super::*;

/// The table with one more setting.
fn with_one_more(who: Who) -> Vec<Setting> {
    let one = Setting {
        name: "new_thing",
        kind: Kind::Choice(&[("off", "nothing"), ("some", "a part")]),
        default: DefaultValue::Word("some"),
        who,
        words: "What is done. It needs `undo_commands`.",
        more: Some("undo.md"),
    };
    [SETTINGS, &[one]].concat()
}

#[test]
fn a_setting_that_is_added_to_the_table_arrives_everywhere() {
    let stricter = May::Restrict(Stricter::Off);
    let settings = with_one_more(Who { user: May::Set, editor: May::Set, project: stricter });

    let words = "What is done. It needs `undo_commands`. `off`: nothing; `some`: a part. ([more](undo.md))";
    let row = format!("| `new_thing` | `off` or `some` | `some` | {words} |\n");
    assert!(document::settings(&settings).ends_with(&row), "{}", document::settings(&settings));
    let layers = document::layers(&settings);
    assert!(layers.contains(", `new_thing` | yes | yes | only to switch it off |"), "{layers}");
    let row =
        format!("| `azimuth.newThing` | {} | `some` |  |\n", words.replace("undo_commands", "azimuth.undoCommands"));
    assert!(document::in_vscode(&settings).ends_with(&row), "{}", document::in_vscode(&settings));

    let schema: Value = serde_json::from_str(&schema::render(&settings)).unwrap();
    assert_eq!(schema["properties"]["new_thing"]["enum"], json!(["off", "some"]));
    assert_eq!(schema["properties"]["new_thing"]["default"], "some");

    let manifest: Value = serde_json::from_str(&vscode::manifest(vscode::EMPTY_MANIFEST, &settings).unwrap()).unwrap();
    let declared = &manifest["contributes"]["configuration"][0]["properties"]["azimuth.newThing"];
    let expected = json!({ "type": "string", "enum": ["off", "some"], "scope": "window",
        "enumDescriptions": ["Nothing", "A part"], "default": "some",
        "markdownDescription": "What is done. It needs `#azimuth.undoCommands#`." });
    assert_eq!(*declared, expected);
    assert!(vscode::names(&settings).contains("export const free = [\n") && free(&settings).contains("'newThing'"));
}

/// The list of what a workspace may choose.
fn free(settings: &[Setting]) -> String {
    let names = vscode::names(settings);
    let (_, list) = names.split_once("const free = [").unwrap();
    list.split_once(']').unwrap().0.to_owned()
}

#[test]
fn what_only_the_user_may_set_is_the_machines_in_vscode_and_restricted() {
    let settings = with_one_more(Who { user: May::Set, editor: May::Never, project: May::Never });
    let text = vscode::manifest(vscode::EMPTY_MANIFEST, &settings).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let declared = &manifest["contributes"]["configuration"][0]["properties"]["azimuth.newThing"];
    assert_eq!(declared["scope"], "machine");
    assert!(declared["markdownDescription"].as_str().unwrap().ends_with("never a workspace's."));
    let restricted = manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"].as_array().unwrap();
    assert!(restricted.contains(&json!("azimuth.newThing")) && restricted.contains(&json!("azimuth.server.path")));
    assert!(!restricted.contains(&json!("azimuth.permissions.deny")), "a workspace may always deny");
    assert!(!free(&settings).contains("newThing"));
    // Once more changes nothing, and what is the author's stays as it is.
    assert_eq!(vscode::manifest(&text, &settings).unwrap(), text);
    assert!(text.contains(r#""properties": { "azimuth.server.path": { "type": "string", "scope": "machine" } }"#));
}

#[test]
fn a_workspace_takes_the_place_of_one_value_and_adds_to_a_list() {
    let settings = with_one_more(Who { user: May::Set, editor: May::Set, project: May::Set });
    let names = vscode::names(&settings);
    let (_, additive) = names.split_once("const additive = [").unwrap();
    assert!(free(&settings).contains("'newThing'") && !additive.contains("'newThing'"), "{names}");
    assert!(additive.contains("'permissions.deny'") && !free(&settings).contains("'permissions.deny'"), "{names}");
    let manifest: Value = serde_json::from_str(&vscode::manifest(vscode::EMPTY_MANIFEST, &settings).unwrap()).unwrap();
    let properties = &manifest["contributes"]["configuration"][0]["properties"];
    assert_eq!(properties["azimuth.newThing"]["scope"], "window");
    assert_eq!(properties["azimuth.permissions.deny"]["scope"], "resource");
    let restricted = manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"].as_array().unwrap();
    assert!(!restricted.contains(&json!("azimuth.newThing")), "a project's file may set it, trusted or not");
}

#[test]
fn a_key_is_in_the_schema_of_the_file_and_not_in_an_editors_settings() {
    let schema: Value = serde_json::from_str(&schema::render(SETTINGS)).unwrap();
    let provider = &schema["properties"]["providers"]["additionalProperties"]["properties"];
    assert!(provider["key"].is_object() && provider["key_env"].is_object(), "{provider}");
    assert_eq!(schema["properties"]["permissions"]["properties"]["deny"]["type"], "array");
    assert!(schema["properties"]["workspace_trust"].is_null(), "a file cannot say it");
    let manifest: Value = serde_json::from_str(&vscode::manifest(vscode::EMPTY_MANIFEST, SETTINGS).unwrap()).unwrap();
    let properties = &manifest["contributes"]["configuration"][0]["properties"];
    let provider = &properties["azimuth.providers"]["additionalProperties"]["properties"];
    assert!(provider["key"].is_null() && provider["keyEnv"].is_object(), "{provider}");
    assert_eq!(properties["azimuth.editMode"]["enum"][0], "", "no value is one that can be chosen");
    assert!(properties["azimuth.caFile"].get("enum").is_none(), "any path will do");
}

#[test]
fn a_manifest_without_a_place_for_settings_is_refused() {
    let without = vscode::EMPTY_MANIFEST.replace("restrictedConfigurations", "others");
    assert_eq!(vscode::manifest(&without, SETTINGS), Err("\"restrictedConfigurations\": "));
}

#[test]
fn a_list_of_tables_and_a_table_of_a_provider_are_nested_in_both_schemas() {
    let schema: Value = serde_json::from_str(&schema::render(SETTINGS)).unwrap();
    let provider = &schema["properties"]["providers"]["additionalProperties"]["properties"];
    let price = &provider["model"]["items"]["properties"]["price"]["properties"]["cache_read"];
    assert_eq!((&provider["model"]["type"], &price["type"]), (&json!("array"), &json!("number")), "{provider}");
    assert_eq!(provider["headers"]["additionalProperties"]["type"], "string");
    let manifest: Value = serde_json::from_str(&vscode::manifest(vscode::EMPTY_MANIFEST, SETTINGS).unwrap()).unwrap();
    let provider =
        &manifest["contributes"]["configuration"][0]["properties"]["azimuth.providers"]["additionalProperties"];
    let model = &provider["properties"]["model"]["items"]["properties"];
    assert_eq!(model["maxOutput"]["type"], "integer", "{provider}");
    assert_eq!(provider["properties"]["compat"]["properties"]["keyHeader"]["enum"][2], "api-key");
}
