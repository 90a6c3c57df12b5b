//! The layers of docs/architecture.md, held by a test: who may depend on whom, and where third parties live.
#![expect(clippy::disallowed_methods, reason = "the test reads the project's own sources")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package};
use regex::Regex;

/// Every package of ours, lowest layer first, and which of ours it may depend on.
const LAYERS: &[(&str, &[&str])] = &[
    ("spent", &[]),
    ("bash", &[]),
    ("protocol", &[]),
    ("platform", &[]),
    ("permission", &["protocol"]),
    ("ports", &["protocol", "permission"]),
    ("mask", &["protocol", "ports"]),
    ("agent", CORE),
    ("net", &[]),
    ("providers", &["protocol", "platform", "ports", "mask", "net"]),
    ("accounts", &["platform", "net", "providers"]),
    ("project", &["protocol", "platform", "permission", "ports", "spent"]),
    ("code", &["protocol", "bash", "project", "spent"]),
    ("inline", &["protocol", "ports", "project", "code", "spent"]),
    ("process", &["protocol", "platform", "project", "spent"]),
    ("shell", &["protocol", "platform", "bash", "permission", "ports", "project", "process", "spent"]),
    ("lang", &["protocol", "ports", "project", "code", "process", "spent"]),
    ("store", &["protocol", "platform", "ports"]),
    ("tools", &["protocol", "permission", "ports", "project", "code", "process", "shell", "lang"]),
    ("extend", &["protocol", "ports", "project"]),
    ("hub", BELOW_HUB),
    ("azimuth", BELOW_FRONTS),
    ("xtask", &["protocol"]),
    ("e2e", BELOW_STORIES),
];

/// The packages that the core stands on. Nothing but the hub and what is above it stands on the core itself, so that a
/// changed word in a prompt recompiles little.
const CORE: &[&str] = &["protocol", "permission", "ports"];
const BELOW_HUB: &[&str] = &[
    "protocol",
    "platform",
    "permission",
    "ports",
    "mask",
    "agent",
    "providers",
    "accounts",
    "project",
    "code",
    "inline",
    "process",
    "shell",
    "lang",
    "store",
    "tools",
    "extend",
];
const BELOW_FRONTS: &[&str] = &[
    "protocol",
    "platform",
    "permission",
    "ports",
    "mask",
    "agent",
    "providers",
    "accounts",
    "project",
    "code",
    "inline",
    "process",
    "shell",
    "lang",
    "store",
    "tools",
    "extend",
    "hub",
];
const BELOW_STORIES: &[&str] = &[
    "protocol",
    "platform",
    "permission",
    "ports",
    "mask",
    "agent",
    "providers",
    "accounts",
    "project",
    "code",
    "inline",
    "process",
    "shell",
    "lang",
    "store",
    "tools",
    "extend",
    "hub",
    "azimuth",
    "xtask",
];

/// Which parts of the crate `project` the crates beside it name. So code knows no file, a program no edit that waits
/// for the user, and a shell nothing but what the disk may never answer.
const PARTS_OF_PROJECT: &[(&str, &[&str])] = &[
    ("code", &["search", "text"]),
    ("inline", &["text"]),
    ("process", &["answers", "paths"]),
    ("shell", &["answers"]),
    ("lang", &["buffers", "files", "paths", "reader", "review", "search", "text"]),
];

/// Which parts of the crate `platform` each crate names, so that not everybody opens files past the crate `project`.
const PARTS_OF_PLATFORM: &[(&str, &[&str])] = &[
    ("project", &["listing", "mounts", "names", "open", "rights", "scratch", "stamp"]),
    ("process", &["mounts", "open"]),
    ("shell", &["rights"]),
    ("providers", &["rights"]),
    ("accounts", &["open", "rights"]),
    ("store", &["disk", "processes", "rights", "stamp"]),
    ("hub", &["rights"]),
    ("azimuth", &["rights", "terminal"]),
];

/// Third parties that live in one place, and where that is. A name that ends in `*` stands for all that begin with it.
const HOMES: &[(&str, &[&str])] = &[
    ("tower-lsp*", &["azimuth"]),
    ("ls-types", &["azimuth"]),
    ("lsp-types", &[]),
    ("reqwest", &["net"]),
    ("rustls", &["net"]),
    ("rusqlite", &["store"]),
    ("portable-pty", &["process", "shell"]),
    ("landlock", &["process"]),
    ("seccompiler", &["process"]),
    ("tree-sitter", &["bash", "code", "shell"]),
    ("tree-sitter-bash", &["bash"]),
    ("tree-sitter*", &["code"]),
    ("ast-grep-core", &["code"]),
];

/// The crates that name no operating system: what programs and terminals stand on, and what stands beside them. What
/// systems differ in they have from `platform`.
const ON_ANY_SYSTEM: &[&str] = &[
    "accounts",
    "agent",
    "bash",
    "code",
    "extend",
    "inline",
    "mask",
    "net",
    "permission",
    "ports",
    "project",
    "protocol",
    "providers",
    "store",
];

/// Modules that the source of the pure core does not mention, because it has no way to the world but its ports.
const UNKNOWN_TO_CORE: &[&str] = &["std::fs", "std::process", "std::net", "tokio::fs", "tokio::process", "tokio::net"];

/// The parts of the program `azimuth`, and what each does not name: a front stands beside the others, on the kit that
/// they share.
const FRONTS: &[(&str, &[&str])] = &[
    ("lsp", &["crate::cli"]),
    ("cli", &["crate::lsp", "lsp_types", "tower_lsp"]),
    ("front", &["crate::lsp", "crate::cli", "lsp_types", "tower_lsp"]),
];

#[test]
fn dependencies_point_down() {
    let offences = offences(&dependencies(&metadata()));
    assert!(offences.is_empty(), "docs/architecture.md, \"Layers\":\n{}", offences.join("\n"));
}

#[test]
fn an_edge_that_breaks_the_rule_is_named_with_it() {
    let edges = [
        ("agent", "serde"),
        ("agent", "project"),
        ("newcomer", "agent"),
        ("tools", "rusqlite"),
        ("code", "tools"),
        ("code", "tree-sitter-rust"),
    ];
    let mut dependencies = BTreeMap::<String, Vec<String>>::new();
    for (package, dependency) in edges {
        dependencies.entry(package.to_owned()).or_default().push(dependency.to_owned());
    }
    assert_eq!(
        offences(&dependencies),
        [
            "agent -> project: of our own packages, agent may depend on protocol, permission, ports only",
            "code -> tools: of our own packages, code may depend on protocol, bash, project, spent only",
            "newcomer: no layer is given for it; add it to LAYERS in this test and to docs/architecture.md",
            "tools -> rusqlite: rusqlite may be used in store only",
        ]
    );
}

#[test]
fn the_core_knows_no_file_process_or_network() {
    let mut offences = Vec::new();
    let of_core = ["permission", "ports", "agent"].map(|name| project_root().join(format!("server/crates/{name}/src")));
    for path in of_core.iter().flat_map(|folder| rust_files(folder)) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            for name in UNKNOWN_TO_CORE.iter().filter(|name| line.contains(*name)) {
                offences.push(format!("{}:{}: {name}", path.display(), number + 1));
            }
        }
    }
    assert!(offences.is_empty(), "the core reaches the world through its ports only:\n{}", offences.join("\n"));
}

#[test]
fn below_programs_and_terminals_only_the_platform_names_a_system() {
    let system = Regex::new(
        r#"std::os::|\bos::(unix|linux|windows|fd)\b|\brustix\b|\blibc\b|(new|from|join|format!|read\w*|write|open)\("/proc|cfg(_attr)?!?\([^\]{};]*\b(unix|windows|target_os|target_family)\b"#,
    )
    .unwrap();
    for line in [
        "use std::os::fd::AsRawFd;",
        "use std::{fs, os::unix::fs::MetadataExt};",
        "#[cfg(not(target_os = \"linux\"))]",
        "#[cfg_attr(unix, expect(unused))]",
        "#[cfg(all(\n    test,\n    unix\n))]",
        "if cfg!(windows) {",
        "Path::new(\"/proc\")",
        "format!(\"/proc/self/fd/{number}\")",
    ] {
        assert!(system.is_match(line), "{line}");
    }
    for line in ["/// As the files of /proc say.", "    \"/proc\",", "let unix_time = now();", "use std::os_str;"] {
        assert!(!system.is_match(line), "{line}");
    }
    let (mut offences, mut looked_at) = (Vec::new(), 0);
    for package in ON_ANY_SYSTEM {
        let sources = project_root().join(format!("server/crates/{package}/src"));
        for path in rust_files(&sources).iter().filter(|path| !is_test_module(&sources, path)) {
            let text = fs::read_to_string(path).unwrap();
            let code = text.split("\n#[cfg(test)]\nmod tests {\n").next().unwrap_or_default();
            let named =
                system.find_iter(code).map(|found| (code[..found.start()].matches('\n').count() + 1, found.as_str()));
            offences.extend(named.map(|(line, what)| format!("{}:{line}: {what}", path.display())));
            looked_at += 1;
        }
    }
    assert!(looked_at > 100, "only {looked_at} files were looked at");
    assert!(offences.is_empty(), "what systems differ in belongs into the crate platform:\n{}", offences.join("\n"));
}

#[test]
fn what_stands_on_the_project_or_the_platform_names_no_other_part_of_it() {
    let mut offences = Vec::new();
    for (crate_name, all) in [("project", PARTS_OF_PROJECT), ("platform", PARTS_OF_PLATFORM)] {
        let part = Regex::new(&format!(r"\b{crate_name}::(\w+|\{{[^;]*)")).unwrap();
        for (package, allowed) in all {
            for path in rust_files(&sources_of(package)) {
                let text = fs::read_to_string(&path).unwrap();
                let named = part.captures_iter(&text).flat_map(|found| match found[1].strip_prefix('{') {
                    Some(list) => list.trim_end_matches('}').split(',').map(|item| item.trim().to_owned()).collect(),
                    None => vec![found[1].to_owned()],
                });
                let first = |name: &String| name.split("::").next().unwrap_or_default().to_owned();
                let more = named.filter(|name| !name.is_empty() && !allowed.contains(&first(name).as_str()));
                offences.extend(more.map(|name| format!("{}: {crate_name}::{name}", path.display())));
            }
        }
    }
    assert!(offences.is_empty(), "docs/architecture.md, \"Layers\":\n{}", offences.join("\n"));
}

#[test]
fn a_front_builds_on_the_kit_of_all_fronts_and_never_on_another_front() {
    let mut offences = Vec::new();
    for (part, unknown) in FRONTS {
        let mut files = rust_files(&project_root().join("server/src").join(part));
        files.push(project_root().join(format!("server/src/{part}.rs")));
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            let named = unknown.iter().filter(|name| names_module(&text, name));
            offences.extend(named.map(|name| format!("{}: {name}", path.display())));
        }
    }
    assert!(offences.is_empty(), "docs/architecture.md, \"src\":\n{}", offences.join("\n"));
}

#[test]
fn a_module_is_named_alone_or_among_others() {
    assert!(names_module("use crate::lsp::on_disk;", "crate::lsp"));
    assert!(names_module("use crate::{\n    hub, lsp, serve,\n};", "crate::lsp"));
    assert!(names_module("use lsp_types::Range;", "lsp_types"));
    assert!(!names_module("use crate::{hub, tools_lsp}; use tools::lsp;", "crate::lsp"));
    assert!(!names_module("use crate::client;", "crate::cli"));
}

#[test]
fn every_package_of_the_server_takes_the_lints_of_the_workspace() {
    let metadata = metadata();
    let without: Vec<_> = metadata
        .workspace_packages()
        .into_iter()
        .filter(|package| package.name != "e2e")
        .filter(|package| !takes_workspace_lints(package))
        .map(|package| package.manifest_path.as_str())
        .collect();
    assert!(without.is_empty(), "add `[lints]` with `workspace = true` to:\n{}", without.join("\n"));
}

/// The packages of the workspace, without those they come from: this needs no network and no other package's files.
fn metadata() -> Metadata {
    MetadataCommand::new().manifest_path(project_root().join("Cargo.toml")).no_deps().exec().unwrap()
}

fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of a crate's sources.
fn sources_of(package: &str) -> PathBuf {
    project_root().join(if package == "azimuth" {
        "server/src".to_owned()
    } else {
        format!("server/crates/{package}/src")
    })
}

/// Each package of ours with all it names in its manifest, of every kind and for every platform.
fn dependencies(metadata: &Metadata) -> BTreeMap<String, Vec<String>> {
    let of = |package: &&Package| package.dependencies.iter().map(|dependency| dependency.name.clone()).collect();
    metadata.workspace_packages().iter().map(|package| (package.name.to_string(), of(package))).collect()
}

fn offences(dependencies: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut offences = Vec::new();
    for (package, dependencies) in dependencies {
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| name == package) else {
            offences.push(format!(
                "{package}: no layer is given for it; add it to LAYERS in this test and to docs/architecture.md"
            ));
            continue;
        };
        for dependency in dependencies {
            let ours = LAYERS.iter().any(|(name, _)| name == dependency);
            if ours && !allowed.contains(&dependency.as_str()) {
                let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
                offences.push(format!(
                    "{package} -> {dependency}: of our own packages, {package} may depend on {allowed} only"
                ));
            }
            if let Some((_, homes)) = HOMES.iter().find(|(name, _)| names(name, dependency))
                && !homes.contains(&package.as_str())
            {
                let homes = if homes.is_empty() { "nothing".to_owned() } else { homes.join(", ") };
                offences.push(format!("{package} -> {dependency}: {dependency} may be used in {homes} only"));
            }
        }
    }
    offences
}

/// True if a source among these is only there for tests: the one above it says so, or it lies in a folder of tests.
fn is_test_module(sources: &Path, path: &Path) -> bool {
    let (folder, name) = (path.parent().unwrap(), path.file_stem().unwrap().display());
    let above = [folder.with_extension("rs"), folder.join("lib.rs")];
    let declared = format!("#[cfg(test)]\nmod {name};");
    above.iter().any(|file| fs::read_to_string(file).is_ok_and(|text| text.contains(&declared)))
        || path.strip_prefix(sources).unwrap().components().any(|part| part.as_os_str() == "tests")
}

fn names(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |beginning| name.starts_with(beginning))
}

/// True if a source names a module, as `crate::lsp` or within `crate::{..}`.
fn names_module(text: &str, module: &str) -> bool {
    let pattern = match module.split_once("::") {
        Some((above, name)) => format!(r"\b{above}::(\{{[^}}]*\b)?{name}\b"),
        None => format!(r"\b{module}\b"),
    };
    Regex::new(&pattern).unwrap().is_match(text)
}

fn takes_workspace_lints(package: &Package) -> bool {
    let manifest = fs::read_to_string(&package.manifest_path).unwrap();
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    lines.next() == Some("workspace = true")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty(), "no sources in {}", folder.display());
    files
}
