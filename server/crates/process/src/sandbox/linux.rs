//! Entering a policy on Linux: Landlock for files, signals and abstract sockets, seccomp for calls that would lead out,
//! and fewer capabilities for root.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use platform::open;
use rustix::thread::CapabilitySet;
use seccompiler::TargetArch;

use super::{Policy, Support, led_to};

mod calls;

/// The newest version of Landlock that this was written for. Older kernels enforce what they can.
const NEWEST: ABI = ABI::V9;

/// The versions of Landlock that have brought a protection, each with what is not kept without it.
const MISSING: &[(u32, &str)] = &[
    (3, "files that can only be read can be truncated"),
    (5, "devices can be controlled that are open already"),
    (6, "processes outside can be signalled, and abstract Unix sockets reached"),
    // (9) Unix sockets by path; so few kernels have it that docs/security.md says it of all.
];

/// Has this thread, and all that comes from it, live by a policy from now on, and read these files too.
pub(crate) fn enter(policy: &Policy, reads: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let filter = calls::filter(policy.network)?;
    drop_capabilities()?;
    let mut rules =
        Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?.create()?;
    for (path, access) in grants(policy) {
        // A path that is not there, or may not be looked at, is not granted; nor what a link leads to by now, as all
        // were resolved.
        let Ok((place, is_folder)) = open::place(&path) else { continue };
        let access = if is_folder { access } else { access & AccessFs::from_file(NEWEST) };
        rules = rules.add_rule(PathBeneath::new(place, access))?;
    }
    for file in reads {
        let Ok(file) = PathFd::new(file) else { continue };
        rules = rules.add_rule(PathBeneath::new(file, AccessFs::ReadFile))?;
    }
    // This sets no_new_privs, and where there is no Landlock the filter does.
    rules.restrict_self()?;
    seccompiler::apply_filter(&filter)?;
    Ok(())
}

pub(super) fn support() -> Support {
    let known = [(9, ABI::V9), (6, ABI::V6), (5, ABI::V5), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];
    let has_filters = TargetArch::try_from(std::env::consts::ARCH).is_ok();
    let Some((version, _)) = known.into_iter().find(|(_, abi)| has_filters && has(*abi)) else {
        return Support { by: None, missing: Vec::new() };
    };
    let missing = MISSING.iter().filter(|(since, _)| *since > version).map(|(_, words)| *words).collect();
    Support { by: Some(format!("Landlock (ABI {version} or later) and seccomp")), missing }
}

fn has(abi: ABI) -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let rules = rules.handle_access(AccessFs::from_all(abi));
    let scopes = Scope::from_all(abi);
    let rules = rules.and_then(|rules| if scopes.is_empty() { Ok(rules) } else { rules.scope(scopes) });
    rules.and_then(Ruleset::create).is_ok()
}

/// Every path that is granted, with what may be done to it.
fn grants(policy: &Policy) -> BTreeMap<PathBuf, BitFlags<AccessFs>> {
    let read = AccessFs::from_read(NEWEST);
    // Nobody but root could make devices, and nobody needs to.
    let write = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev | AccessFs::Truncate;
    let mut grants = BTreeMap::new();
    let mut grant = |path: PathBuf, access: BitFlags<AccessFs>| *grants.entry(path).or_insert(access) |= access;
    // A place that is only read and may come to hold something hidden is taken apart too: new files in it are not seen
    // then. If it is written, nothing new could be made.
    let is_silent = |path: &Path| policy.silent.iter().any(|silent| path.starts_with(silent));
    let asked = || policy.hidden.iter().filter(|hidden| !is_silent(hidden));
    let may_come = |hidden: &&PathBuf| hidden.parent().is_some_and(Path::is_dir);
    let is_there = |hidden: &&PathBuf| hidden.symlink_metadata().is_ok();
    // A silent place may answer again: a place that holds it, with something hidden in it, is not granted whole.
    let holds_hidden = |silent: &&PathBuf| policy.hidden.iter().any(|hidden| hidden.starts_with(silent));
    let unasked = || policy.silent.iter().filter(holds_hidden);
    let from_read: Vec<PathBuf> = asked().filter(may_come).chain(unasked()).cloned().collect();
    let from_write: Vec<PathBuf> = asked().filter(is_there).chain(unasked()).cloned().collect();
    let written = policy.written();
    for (places, access, hidden) in [
        (&policy.read, read, &from_read),
        (&policy.unlinked, read, &from_read),
        (&policy.read_only, read, &from_read),
        (&policy.write, write, &from_write),
    ] {
        for place in places {
            let mut split = BTreeSet::new();
            for path in without(place, hidden, (&written, &policy.silent), &mut split) {
                grant(path, access);
            }
            // Names are shown where not all can be.
            split.into_iter().for_each(|folder| grant(folder, AccessFs::ReadDir.into()));
        }
    }
    policy.temporary.iter().for_each(|place| grant(place.clone(), write));
    policy.devices.iter().for_each(|place| grant(place.clone(), device));
    own_terminal().into_iter().for_each(|terminal| grant(terminal, device));
    grants.retain(|path, _| !is_silent(path));
    grants
}

/// The terminal that the program is started in: all others are closed to it, since what is written there is shown to
/// whoever sits at them, such as over a question of ours. None for a program without one.
fn own_terminal() -> Option<PathBuf> {
    let name = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(name.into_bytes())))
}

/// Returns a place, or if something hidden lies in it, all that is in it but that: Landlock cannot take anything back.
/// Silent places are not asked for. `split` gets the folders that were taken apart.
fn without(
    place: &Path,
    hidden: &[PathBuf],
    (written, silent): (&[PathBuf], &[PathBuf]),
    split: &mut BTreeSet<PathBuf>,
) -> Vec<PathBuf> {
    let is_silent = |path: &Path| silent.iter().any(|silent| path.starts_with(silent));
    if is_silent(place) || hidden.iter().any(|hidden| place.starts_with(hidden)) {
        return Vec::new();
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(place)) {
        return vec![place.to_owned()];
    }
    split.insert(place.to_owned());
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let entries = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| !is_silent(path));
    // A link grants what it leads to, which may be what is hidden or hold it; and one that a command can write,
    // nothing.
    let is_safe =
        |target: &PathBuf| !hidden.iter().any(|hidden| target.starts_with(hidden) || hidden.starts_with(target));
    let place_of = |path: PathBuf| match path.is_symlink() {
        true => led_to(&path, &[written, silent].concat()).filter(is_safe),
        false => Some(path),
    };
    entries.filter_map(place_of).flat_map(|path| without(&path, hidden, (written, silent), split)).collect()
}

/// Takes from root what no work needs that a sandbox is for. The rights of files stay: it goes on to work as root.
fn drop_capabilities() -> rustix::io::Result<()> {
    const DROPPED: CapabilitySet = CapabilitySet::AUDIT_CONTROL
        .union(CapabilitySet::BLOCK_SUSPEND)
        .union(CapabilitySet::BPF)
        .union(CapabilitySet::CHECKPOINT_RESTORE)
        .union(CapabilitySet::DAC_READ_SEARCH)
        .union(CapabilitySet::LINUX_IMMUTABLE)
        .union(CapabilitySet::MAC_ADMIN)
        .union(CapabilitySet::MAC_OVERRIDE)
        .union(CapabilitySet::MKNOD)
        .union(CapabilitySet::NET_ADMIN)
        // Packets of any kind, also of other programs' connections.
        .union(CapabilitySet::NET_RAW)
        .union(CapabilitySet::PERFMON)
        .union(CapabilitySet::SETFCAP)
        .union(CapabilitySet::SYSLOG)
        .union(CapabilitySet::SYS_ADMIN)
        .union(CapabilitySet::SYS_BOOT)
        .union(CapabilitySet::SYS_MODULE)
        // Going before all other programs, which could keep the supervisor from running.
        .union(CapabilitySet::SYS_NICE)
        .union(CapabilitySet::SYS_PACCT)
        .union(CapabilitySet::SYS_PTRACE)
        .union(CapabilitySet::SYS_RAWIO)
        .union(CapabilitySet::SYS_TIME)
        .union(CapabilitySet::SYS_TTY_CONFIG)
        .union(CapabilitySet::WAKE_ALARM);
    let mut sets = rustix::thread::capabilities(None)?;
    // Who has none of them can be given none: a program that could is not obeyed with no_new_privs.
    if sets.permitted.intersects(DROPPED) {
        sets.permitted -= DROPPED;
        sets.effective -= DROPPED;
        sets.inheritable -= DROPPED;
        rustix::thread::set_capabilities(None, sets)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_above_a_silent_file_system_with_something_hidden_is_not_granted_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        for name in ["far/private", "near"] {
            std::fs::create_dir_all(place.join(name)).unwrap();
        }
        let policy = Policy {
            read: vec![place.clone()],
            hidden: vec![place.join("far/private/key")],
            silent: vec![place.join("far")],
            ..Policy::closed()
        };
        let grants = grants(&policy);
        let reads = |path: &Path| grants.get(path).is_some_and(|access| access.contains(AccessFs::ReadFile));
        assert!(!reads(&place), "it would hold what is hidden once that answers again");
        assert!(reads(&place.join("near")) && !grants.keys().any(|path| path.starts_with(place.join("far"))));
    }
}
