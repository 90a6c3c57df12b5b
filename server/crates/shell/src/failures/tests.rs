//! The output of real programs when something fails, in the middle of a long output. The texts are what the programs
//! wrote about small projects with mistakes made for it; only paths were changed.

use super::super::transcript::Transcript;

/// A program's text and what of it must be told, line by line.
struct Case {
    /// The program that wrote it.
    source: &'static str,
    text: &'static str,
    told: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        source: "cargo 1.95 test",
        text: include_str!("cargo-test.txt"),
        told: &[
            "test tests::halves ... FAILED",
            "---- tests::halves stdout ----",
            "no halves today",
            "about to add",
            "assertion `left == right` failed: one and two",
            "  left: 3",
            " right: 4",
            "    tests::adds_wrongly",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out;",
        ],
    },
    Case {
        source: "cargo-nextest 0.9.143",
        text: include_str!("nextest.txt"),
        told: &[
            ") sample tests::halves",
            "    no halves today",
            "    about to add",
            "    assertion `left == right` failed: one and two",
            "     right: 4",
        ],
    },
    Case {
        source: "rustc 1.95",
        text: include_str!("rustc.txt"),
        told: &[
            "error[E0425]: cannot find value `y` in this scope",
            " --> bad.rs:3:20",
            "help: a local variable with a similar name exists",
            "error[E0308]: mismatched types",
            "  |            expected due to this",
            "error: aborting due to 2 previous errors",
        ],
    },
    Case {
        source: "gcc 12.2",
        text: include_str!("gcc.txt"),
        told: &[
            "t.c:4:5: error: ‘undeclared’ undeclared",
            "    4 |     undeclared = 3;",
            "t.c:5:11: error: expected ‘;’",
            "      |           ;",
        ],
    },
    Case {
        source: "ld of binutils 2.40",
        text: include_str!("ld.txt"),
        told: &["l.c:(.text+0x5): undefined reference to `missing'", "collect2: error: ld returned 1 exit status"],
    },
    Case {
        source: "GNU make 4.3",
        text: include_str!("make.txt"),
        told: &["t.c:4:5: error: ‘undeclared’ undeclared", "make: *** [Makefile:1: all] Error 1"],
    },
    Case {
        source: "python 3.11 -m unittest",
        text: include_str!("unittest.txt"),
        told: &[
            "ERROR: test_breaks (test_sample.Sums.test_breaks)",
            "    def inner(n): return {\"one\": 1}[n]",
            "KeyError: 'two'",
            "FAIL: test_wrong (test_sample.Sums.test_wrong)",
            "AssertionError: 2 != 3",
        ],
    },
    Case {
        source: "python 3.11",
        text: include_str!("pysyntax.txt"),
        told: &["  File \"/project/bad.py\", line 1", "    x = (", "SyntaxError: '(' was never closed"],
    },
    Case {
        source: "python 3.11",
        text: include_str!("pytrace.txt"),
        told: &["ValueError: two is not one", "    def one(): return two()", "RuntimeError: it went wrong"],
    },
    Case {
        source: "pytest 9.2",
        text: include_str!("pytest.txt"),
        told: &[
            "ERROR at setup of test_fixture",
            "E   OSError: no disk",
            ">       assert prices == [3, 5], \"prices went up\"",
            "E         At index 1 diff: 4 != 5",
            "E   KeyError: 'coffee'",
            "FAILED test_shop.py::test_wrong - AssertionError: prices went up",
            "ERROR test_shop.py::test_fixture - OSError: no disk",
        ],
    },
    Case {
        source: "node 20.20 --test --test-reporter=spec",
        text: include_str!("node-spec.txt"),
        told: &[
            "✖ adds wrongly (",
            "  AssertionError [ERR_ASSERTION]: 2 == 3",
            "    actual: 2,",
            "    TypeError [Error]: no such thing",
        ],
    },
    Case {
        source: "node 20.20 --test --test-reporter=tap",
        text: include_str!("node-tap.txt"),
        told: &[
            "not ok 2 - adds wrongly",
            "  error: '2 == 3'",
            "    not ok 1 - inner breaks",
            "      error: 'no such thing'",
            "not ok 3 - group",
        ],
    },
    Case {
        source: "node 20.20",
        text: include_str!("node-trace.txt"),
        told: &["RangeError: too far", "    at a (/project/n.js:1:14)"],
    },
    Case {
        source: "javac 17",
        text: include_str!("javac.txt"),
        told: &[
            "Sample.java:4: error: incompatible types: String cannot be converted to int",
            "        int x = \"one\";",
            "Sample.java:5: error: cannot find symbol",
        ],
    },
    Case {
        source: "java 17",
        text: include_str!("java-trace.txt"),
        told: &[
            "Exception in thread \"main\" java.lang.RuntimeException: outer",
            "Caused by: java.lang.IllegalStateException: deep",
            "\tat Boom.deep(Boom.java:2)",
        ],
    },
    Case {
        source: "vitest 4.1",
        text: include_str!("vitest.txt"),
        told: &[
            "     × adds wrongly ",
            " FAIL  vt/cart.test.js > cart > adds wrongly",
            "AssertionError: expected { sum: 2 } to deeply equal { sum: 3 }",
            "+   \"sum\": 2,",
            " ❯ vt/cart.test.js:4:47",
            "TypeError: no such thing",
        ],
    },
    Case {
        source: "jest 30.5",
        text: include_str!("jest.txt"),
        told: &[
            "FAIL jt/cart.spec.cjs",
            "    ✕ adds wrongly",
            "  ● cart › adds wrongly",
            "    +   \"sum\": 2,",
            "      at Object.<anonymous> (jt/cart.spec.cjs:3:49)",
            "    TypeError: no such thing",
        ],
    },
    Case {
        source: "mocha 12.0",
        text: include_str!("mocha.txt"),
        told: &["  2 failing", "      -  \"sum\": 2", "     TypeError: no such thing"],
    },
    Case {
        source: "tsc 7.0",
        text: include_str!("tsc.txt"),
        told: &["ts/a.ts(1,7): error TS2322: Type 'number'", "ts/a.ts(4,1): error TS2304: Cannot find name 'missing'."],
    },
    Case {
        source: "tsc 7.0 --pretty",
        text: include_str!("tsc-pretty.txt"),
        told: &["ts/a.ts:1:7 - error TS2322: Type 'number'", "1 const x: string = 1;", "4 missing(s);"],
    },
    Case {
        source: "eslint 9.39",
        text: include_str!("eslint.txt"),
        told: &[
            "/project/es/a.js",
            "  1:23  error    'x' is not defined                           no-undef",
            "/project/es/b.js",
            "✖ 5 problems (4 errors, 1 warning)",
        ],
    },
    Case { source: "npm 10", text: include_str!("npm.txt"), told: &["npm error Missing script: \"nothing\""] },
];

/// Lines as programs print them where all goes well. Some have the words of failures in them.
fn well(number: usize) -> String {
    [
        "   Compiling some-crate v1.2.0",
        "test module::name ... ok",
        "PASS src/errors.test.ts",
        "  ✓ refuses a wrong password (3 ms)",
        "tests/test_errors.py .....",
        "[INFO] Building failure-reports 1.0",
        "warning: unused variable: `error`",
        "ok 12 - not ok is not ok",
        "gcc -O2 -Werror -c src/error.c -o build/error.o",
        "=== RUN   TestFailure",
        "--- PASS: TestFailure (0.00s)",
    ]
    .map(|line| format!("{line} {number}\n"))
    .concat()
}

fn digest(text: &str) -> String {
    let mut transcript = Transcript::default();
    transcript.push(text.replace('\n', "\r\n").as_bytes());
    transcript.finish().text
}

#[test]
fn what_real_programs_say_of_failures_is_told_from_the_middle_of_a_long_output() {
    let before: String = (0..300).map(well).collect();
    let after: String = (300..600).map(well).collect();
    let mut missing = String::new();
    for Case { source, text, told } in CASES {
        let digest = digest(&format!("{before}{text}{after}"));
        assert!(digest.len() < 40_000, "{source}: {} bytes", digest.len());
        for line in *told {
            assert!(text.contains(line), "{source} does not write {line:?}");
            if !digest.contains(line) {
                missing.push_str(&format!("{source}: {line:?} is missing in\n{}\n", middle(&digest)));
            }
        }
    }
    assert!(missing.is_empty(), "{missing}");
}

#[test]
fn nothing_is_taken_for_a_failure_where_all_goes_well() {
    let digest = digest(&(0..900).map(well).collect::<String>());
    assert!(digest.contains("bytes left out here ...]\n"), "{}", middle(&digest));
}

#[test]
fn what_failed_comes_in_the_order_of_the_output_and_only_once() {
    let text: String = CASES.iter().filter(|case| case.text.len() < 900).map(|case| case.text).collect();
    let well = |from: usize| (from..from + 300).map(well).collect::<String>();
    let digest = digest(&format!("{}{text}{}", well(0), well(300)));
    let mut from = 0;
    for line in
        ["collect2: error", "SyntaxError", "RangeError: too far", "Caused by: java", "TS2322", "/project/es/b.js"]
    {
        let at = digest[from..]
            .find(line)
            .unwrap_or_else(|| panic!("{line} is not there, or not in its place\n{}", middle(&digest)));
        from += at;
    }
    assert_eq!(digest.matches("RangeError: too far").count(), 1);
}

fn middle(digest: &str) -> &str {
    digest.split_once("\n[... ").map_or(digest, |(_, rest)| rest.get(..6000).unwrap_or(rest))
}
