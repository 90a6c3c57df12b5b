//! A policy as a profile of macOS's `sandbox-exec`. It is untested on hardware.
//!
//! Of rules that fit the last one counts. Reading is denied in the home folders and of what is hidden only, since what
//! programs of the system read is not known well enough to allow just that.

use std::path::{Path, PathBuf};

use super::Policy;

/// The program that runs another one in a profile.
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// The profile of a policy, with files that may be read besides.
pub(super) fn of(policy: &Policy, reads: &[PathBuf]) -> String {
    let mut profile = String::from("(version 1)\n(allow default)\n");
    let mut rule = |decision: &str, what: &str, places: &[PathBuf]| {
        for place in places {
            profile.push_str(&format!("({decision} {what} (subpath {}))\n", quoted(place)));
        }
    };
    let (homes, everything) = ([PathBuf::from("/Users"), PathBuf::from("/var/root")], [PathBuf::from("/")]);
    rule("deny", "file-write*", &everything);
    rule("deny", "file-read-data", &homes);
    for places in [&policy.read, &policy.unlinked, &policy.read_only, &policy.write] {
        rule("allow", "file-read-data", places);
    }
    rule("allow", "file-write*", &policy.write);
    rule("deny", "file-read* file-write*", &policy.hidden);
    rule("allow", "file-read* file-write*", &policy.temporary);
    rule("allow", "file-read* file-write* file-ioctl", &policy.devices);
    rule("allow", "file-read*", reads);
    if !policy.network {
        profile.push_str("(deny network*)\n(allow network* (remote unix-socket) (local unix-socket))\n");
    }
    // A helper that runs as another user gets nothing from it.
    profile.push_str(
        "(deny process-exec (with no-sandbox))\n(deny mach-lookup (global-name \"com.apple.SecurityServer\"))\n",
    );
    profile.push_str("(deny signal (target others))\n");
    profile
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}
