//! Programs that run what files of the folder say in which they are started, or of one above it.

/// Names of programs, and the files that these read. `*.x` is any file that ends so.
type Runners = (&'static [&'static str], &'static [&'static str]);

const RUNNERS: &[Runners] = &[
    // JavaScript
    (
        &["bun", "bunx", "corepack", "lerna", "npm", "npx", "nx", "pnpm", "pnpx", "turbo", "volta", "yarn", "yarnpkg"],
        &[
            "package.json",
            "server.js",
            ".npmrc",
            ".pnpmfile.cjs",
            "pnpm-workspace.yaml",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnp.cjs",
            "bunfig.toml",
            "lerna.json",
            "nx.json",
            "turbo.json",
        ],
    ),
    // `node --run`.
    (&["--run"], &["package.json"]),
    (&["deno"], &["deno.json", "deno.jsonc", "package.json"]),
    (&["grunt", "gulp"], &["Gruntfile.js", "Gruntfile.cjs", "gulpfile.js", "gulpfile.mjs", "gulpfile.ts"]),
    // Python
    (
        &["hatch", "nox", "pdm", "pixi", "poe", "poetry", "rye", "tox", "uv", "uvx"],
        &[
            "pyproject.toml",
            "hatch.toml",
            "pdm.toml",
            "pixi.toml",
            "poetry.toml",
            "uv.toml",
            "noxfile.py",
            "setup.cfg",
            "tox.ini",
        ],
    ),
    (&["pipenv"], &["Pipfile"]),
    (&["pipx"], &["__pypackages__"]),
    (&["fab", "inv", "invoke"], &["fabfile.py", "tasks.py"]),
    // Ruby
    (&["bundle", "bundler"], &["Gemfile", "gems.rb", ".bundle/config"]),
    (&["rake"], &["Rakefile", "Rakefile.rb", "rakefile", "rakefile.rb"]),
    // The JVM
    (
        &["gradle", "gradlew"],
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle/wrapper/gradle-wrapper.jar",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
    ),
    (
        &["mvn", "mvnd", "mvnw"],
        &[
            "pom.xml",
            ".mvn/extensions.xml",
            ".mvn/jvm.config",
            ".mvn/maven.config",
            ".mvn/wrapper/maven-wrapper.jar",
            ".mvn/wrapper/maven-wrapper.properties",
        ],
    ),
    (&["ant"], &["build.xml"]),
    (
        &["mill", "sbt", "sbtn", "scala", "scala-cli"],
        &[
            "build.mill",
            "build.sbt",
            "build.sc",
            "project.scala",
            "project/build.properties",
            "project/plugins.sbt",
            ".jvmopts",
            ".sbtopts",
        ],
    ),
    (&["bb", "boot", "clj", "clojure", "lein"], &["bb.edn", "build.boot", "deps.edn", "profiles.clj", "project.clj"]),
    // .NET
    (
        &["dotnet"],
        &[
            "global.json",
            "dotnet-tools.json",
            ".config/dotnet-tools.json",
            "Directory.Build.props",
            "Directory.Build.targets",
            "NuGet.Config",
            "nuget.config",
            "*.csproj",
            "*.fsproj",
            "*.vbproj",
            "*.sln",
            "*.slnx",
        ],
    ),
    // Others with a manifest of their own
    (&["cargo"], &["Cargo.toml", ".cargo/config", ".cargo/config.toml"]),
    (&["composer"], &["composer.json"]),
    (&["crystal", "shards"], &["shard.yml"]),
    (&["dart", "flutter", "fvm"], &["pubspec.yaml", ".fvmrc"]),
    (&["dune", "esy", "opam"], &["dune", "dune-project", "dune-workspace", "esy.json"]),
    (&["elixir", "iex", "mix"], &["mix.exs", ".iex.exs"]),
    (&["gleam"], &["gleam.toml"]),
    (&["go", "mage"], &["go.mod", "go.work", "magefile.go"]),
    (&["lake", "lean"], &["lakefile.lean", "lakefile.toml", "lean-toolchain"]),
    (&["nimble"], &["*.nimble"]),
    (&["rebar3"], &["rebar.config", "rebar.config.script"]),
    (
        &["cabal", "ghci", "runghc", "runhaskell", "stack"],
        &["cabal.project", "package.yaml", "stack.yaml", "*.cabal", ".ghci"],
    ),
    (&["swift"], &["Package.swift"]),
    (&["zig"], &["build.zig"]),
    (&["R", "Rscript", "radian"], &[".Renviron", ".Rprofile"]),
    // `julia --project`.
    (&["--project"], &["JuliaProject.toml", "Project.toml"]),
    // Tasks
    (&["bmake", "gmake", "make", "remake"], &["BSDmakefile", "GNUmakefile", "Makefile", "makefile"]),
    (&["cmake", "ctest"], &["CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json"]),
    (&["meson", "muon"], &["meson.build"]),
    (&["ninja", "samu"], &["build.ninja"]),
    (&["bazel", "bazelisk"], &["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", ".bazelrc", "tools/bazel"]),
    (&["buck2", "pants"], &[".buckconfig", "pants.toml"]),
    (&["earthly"], &["Earthfile"]),
    (&["foreman", "honcho", "overmind"], &["Procfile"]),
    (&["just"], &["Justfile", "justfile", ".justfile"]),
    (&["pre-commit"], &[".pre-commit-config.yaml"]),
    (&["scons"], &["SConstruct"]),
    (
        &["go-task", "task"],
        &[
            "Taskfile.dist.yaml",
            "Taskfile.dist.yml",
            "Taskfile.yaml",
            "Taskfile.yml",
            "taskfile.dist.yaml",
            "taskfile.dist.yml",
            "taskfile.yaml",
            "taskfile.yml",
        ],
    ),
    (&["xmake"], &["xmake.lua"]),
    // Versions and environments
    (
        &["asdf", "mise", "rtx"],
        &[
            ".tool-versions",
            "mise.local.toml",
            "mise.toml",
            "mise/config.toml",
            ".config/mise.toml",
            ".config/mise/config.toml",
            ".mise.local.toml",
            ".mise.toml",
            ".mise/config.toml",
        ],
    ),
    (&["direnv", "dotenv", "dotenvx"], &[".env", ".envrc"]),
    (
        &["devbox", "devenv", "nix", "nix-build", "nix-shell", "nom"],
        &["default.nix", "devbox.json", "devenv.nix", "devenv.yaml", "flake.nix", "shell.nix"],
    ),
    (&["guix"], &["guix.scm", "manifest.scm"]),
    // Containers: `docker compose`, `podman compose` and the like.
    (
        &["compose", "docker-compose", "podman-compose"],
        &[
            "compose.override.yaml",
            "compose.override.yml",
            "compose.yaml",
            "compose.yml",
            "docker-compose.override.yaml",
            "docker-compose.override.yml",
            "docker-compose.yaml",
            "docker-compose.yml",
            ".env",
        ],
    ),
    (&["devcontainer"], &[".devcontainer.json", ".devcontainer/devcontainer.json"]),
];

/// The files that programs with these names read, in whatever place of a command line the names stand.
pub(super) fn files_of(words: &[&str]) -> Vec<&'static str> {
    let mut files = Vec::new();
    for (at, word) in words.iter().enumerate() {
        // It is given the program itself, and looks for none.
        let is_given = base(word) == "dotnet" && words.get(at + 1).is_some_and(|next| next.ends_with(".dll"));
        if !is_given {
            files.extend(of(word).flat_map(|(_, files)| *files));
        }
    }
    files.sort_unstable();
    files.dedup();
    files
}

/// True if a program is one of these.
pub(super) fn is_runner(word: &str) -> bool {
    of(word).next().is_some()
}

/// True if a program has one of these names, whichever version stands behind it.
pub(super) fn is_one_of(word: &str, names: &[&str]) -> bool {
    let name = base(word);
    names.contains(&name) || names.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

fn of(word: &str) -> impl Iterator<Item = &'static Runners> {
    RUNNERS.iter().filter(move |(names, _)| is_one_of(word, names))
}

/// Returns the name of a program, without its folder.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
