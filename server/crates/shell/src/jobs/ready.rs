//! The lines that servers and watchers print when they are up.
//!
//! There is no agreed word, so this is a table of what common ones print. It errs to the side of saying nothing: a job
//! whose line is not known is still found to be up by its ports, and a line that says so too early misleads.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

/// A line that is longer is cut.
const LONGEST: usize = 200;

/// Lines that say that something is up.
const UP: &[&str] = &[
    // Python's http.server: `Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...`; Flask: `Serving Flask app`.
    r"\bserving (http|https|at|on|from|flask|!)",
    // Vite: `➜  Local:   http://localhost:5173/`; Next: `- Local: http://localhost:3000`; Angular, Docusaurus.
    r"\b(local|network|url|address|available at|open|visit|running at|started at)\b.{0,20}https?://[\w.\[\]:-]+",
    // Express and most of Node: `Listening on port 3000`; Go, Rust (`listening on 127.0.0.1:3000`), gunicorn
    // (`Listening at: http://…`), nginx, redis (`Ready to accept connections`), PostgreSQL, MySQL
    // (`ready for connections`).
    r"\blistening\b.{0,12}(on|at|for|to|:)",
    r"\bready (to accept|for) (connections|requests)",
    // Vite: `VITE v5.0.0  ready in 320 ms`; Next: `✓ Ready in 1.2s`; `Ready!`, `ready - started server on …`.
    r"\bready (in|on|at)\b",
    r"^\W*ready(\W*$| - )",
    // `Server running at http://…`, `Server is running on port 3000`, `Server started`; `Started server process`
    // (uvicorn) comes before it is up, and its `Application startup complete` when it is.
    r"\b(server|app|application|service|api)( is| has)?( now)? (running|up|started|ready|online)\b",
    r"\brunning (on|at) (https?://|port\b|\[?[\w.:]+\]?:\d)",
    r"\bapplication startup complete\b",
    // Django: `Starting development server at http://127.0.0.1:8000/`.
    r"\bdevelopment server (at|is running)\b",
    // Spring: `Started DemoApplication in 2.3 seconds`; Tomcat: `Server startup in [120] milliseconds`.
    r"\bstarted \w+ in [\d.]+ ?s",
    r"\bserver startup in\b",
    // Bundlers and compilers that watch: webpack, create-react-app, Rollup, tsc, esbuild, Jekyll, nodemon, cargo-watch.
    r"\bcompiled (successfully|with warnings)",
    r"\bcompiled\b.{0,30}\bsuccessfully",
    r"\b(watching|waiting) for (file )?changes\b",
    r"^\W*watching\b.{0,80}(\.\.\.|…)$",
];

/// Lines that speak of it and say the contrary, or that it is yet to come.
const NOT_UP: &str = r"\b(not|isn't|never|no longer|until|when|before|once|if|unable|cannot|can't|could not|couldn't|failed|failure|error|refused|waiting for (the )?(server|port|connection|database)|will be|stopped|in use)\b";

/// A line without errors says so: `Found 0 errors. Watching for file changes.` of tsc.
const NO_ERRORS: &str = r"\b(0|no) (errors?|failures?)\b";

struct Words {
    up: Vec<Regex>,
    not_up: Option<Regex>,
    no_errors: Option<Regex>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let regex = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(true).build().ok();
    Words { up: UP.iter().filter_map(|up| regex(up)).collect(), not_up: regex(NOT_UP), no_errors: regex(NO_ERRORS) }
});

/// Returns what a line of plain text says, cut to a reasonable length, if it says that something is up.
pub(super) fn line(text: &str) -> Option<String> {
    let text = text.trim();
    let shown = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or(text);
    let words = &*WORDS;
    let without = words.no_errors.as_ref().map_or_else(|| shown.into(), |no| no.replace_all(shown, ""));
    let says_not = words.not_up.as_ref().is_some_and(|not| not.is_match(&without));
    (!says_not && words.up.iter().any(|up| up.is_match(shown))).then(|| shown.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(WORDS.up.len(), UP.len());
        assert!(WORDS.not_up.is_some() && WORDS.no_errors.is_some());
    }

    #[test]
    fn what_common_servers_and_watchers_say_when_they_are_up_is_known() {
        let lines = [
            "Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...",
            "  ➜  Local:   http://localhost:5173/",
            "  VITE v5.4.2  ready in 320 ms",
            "   - Local:        http://localhost:3000",
            " ✓ Ready in 1243ms",
            "Listening on port 3000",
            "Example app listening on port 3000!",
            "Server listening at http://127.0.0.1:3000",
            "listening on 127.0.0.1:8080",
            "[2026-01-01 10:00:00 +0000] [7] [INFO] Listening at: http://127.0.0.1:8000 (7)",
            "INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)",
            "INFO:     Application startup complete.",
            " * Running on http://127.0.0.1:5000",
            "Starting development server at http://127.0.0.1:8000/",
            "Server running at http://localhost:1234",
            "Server is running on port 4000",
            "* Ready to accept connections",
            "2026-01-01T10:00:00.000Z 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections.",
            "2026-01-01 LOG:  database system is ready to accept connections",
            "Started DemoApplication in 2.345 seconds (process running for 2.8)",
            "Compiled successfully!",
            "webpack 5.90.0 compiled successfully in 812 ms",
            "[10:00:00 AM] Found 0 errors. Watching for file changes.",
            "Web Server is available at http://localhost:1313/ (bind address 127.0.0.1)",
            "Ready!",
        ];
        let unknown: Vec<_> = lines.into_iter().filter(|text| line(text).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:#?}");
    }

    #[test]
    fn what_only_speaks_of_being_up_is_not_taken_for_it() {
        let lines = [
            "",
            "Starting server...",
            "The server is not running",
            "Waiting for the server to be ready",
            "Error: listen EADDRINUSE: address already in use :::3000",
            "could not connect to server on port 5432: Connection refused",
            "not listening on port 80",
            "Fetching https://packages.example/left-pad",
            "proxying /api to http://localhost:4000",
            "GET /ready 200",
            "added 120 packages in 3s",
            "Compiled with 2 errors: failed",
            "Will be ready in a minute",
            "already up to date",
        ];
        let taken: Vec<_> = lines.into_iter().filter_map(line).collect();
        assert!(taken.is_empty(), "{taken:#?}");
    }

    #[test]
    fn a_long_line_is_cut() {
        let text = format!("Listening on port 3000 {}", "é".repeat(300));
        let shown = line(&text).unwrap();
        assert!(shown.len() <= LONGEST && text.starts_with(&shown));
    }
}
