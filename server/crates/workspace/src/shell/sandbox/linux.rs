//! Entering a policy on Linux: Landlock for files, signals and abstract sockets, seccomp for calls that would lead out, and
//! fewer capabilities for root.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use rustix::thread::CapabilitySet;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::{Policy, Support};

/// The newest version of Landlock that this was written for. Older kernels enforce what they can.
const NEWEST: ABI = ABI::V9;

/// What each version of Landlock has brought, and what is not kept without it.
const MISSING: &[(u32, &str)] = &[
    (3, "files that can only be read can be truncated"),
    (5, "devices can be controlled that are open already"),
    (6, "processes outside can be signalled, and abstract Unix sockets reached"),
    // (9) Unix sockets by path; so few kernels have it that docs/security.md says it of all.
];

/// Has this thread, and all that comes from it, live by a policy from now on, and read these files too.
pub(in crate::shell) fn enter(policy: &Policy, reads: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let filter = filter(policy.network)?;
    drop_capabilities()?;
    let mut rules =
        Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?.create()?;
    for (path, access) in grants(policy, reads) {
        // What is not there, or may not be looked at, is not granted.
        let Ok(file) = PathFd::new(&path) else { continue };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
        rules = rules.add_rule(PathBeneath::new(file, access))?;
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
fn grants(policy: &Policy, reads: &[PathBuf]) -> BTreeMap<PathBuf, BitFlags<AccessFs>> {
    let read = AccessFs::from_read(NEWEST);
    // Nobody but root could make devices, and nobody needs to.
    let write = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev | AccessFs::Truncate;
    let mut grants = BTreeMap::new();
    let mut grant = |path: PathBuf, access: BitFlags<AccessFs>| *grants.entry(path).or_insert(access) |= access;
    // What is only read and may come to hold something hidden is taken apart too: new files in it are not seen then. Where it
    // is written, nothing new could be made.
    let may_come = |hidden: &&PathBuf| hidden.parent().is_some_and(Path::is_dir);
    let is_there = |hidden: &&PathBuf| hidden.symlink_metadata().is_ok();
    let from_read: Vec<PathBuf> = policy.hidden.iter().filter(may_come).cloned().collect();
    let from_write: Vec<PathBuf> = policy.hidden.iter().filter(is_there).cloned().collect();
    for (places, access, hidden) in [(&policy.read, read, &from_read), (&policy.write, write, &from_write)] {
        for place in places {
            let mut split = BTreeSet::new();
            for path in without(place, hidden, &mut split) {
                grant(path, access);
            }
            // Names are shown where not all can be.
            split.into_iter().for_each(|folder| grant(folder, AccessFs::ReadDir.into()));
        }
    }
    policy.temporary.iter().for_each(|place| grant(place.clone(), write));
    policy.devices.iter().for_each(|place| grant(place.clone(), device));
    own_terminal().into_iter().for_each(|terminal| grant(terminal, device));
    reads.iter().for_each(|file| grant(file.clone(), AccessFs::ReadFile.into()));
    grants
}

/// The terminal that the program is started in: all others are closed to it, since what is written there is shown to whoever
/// sits at them, such as over a question of ours. None for a program without one.
fn own_terminal() -> Option<PathBuf> {
    let name = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(name.into_bytes())))
}

/// A place, or where something hidden lies in it, all that is in it but that: Landlock cannot take anything back. `split` gets
/// the folders that were taken apart.
fn without(place: &Path, hidden: &[PathBuf], split: &mut BTreeSet<PathBuf>) -> Vec<PathBuf> {
    if hidden.iter().any(|hidden| place.starts_with(hidden)) {
        return Vec::new();
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(place)) {
        return vec![place.to_owned()];
    }
    split.insert(place.to_owned());
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
    // A link grants what it leads to, and may lead to what is hidden.
    let is_safe = |path: &PathBuf| {
        !path.is_symlink()
            || path.canonicalize().is_ok_and(|target| {
                !hidden.iter().any(|hidden| target.starts_with(hidden) || hidden.starts_with(&target))
            })
    };
    entries.filter(is_safe).flat_map(|path| without(&path, hidden, split)).collect()
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
        .union(CapabilitySet::PERFMON)
        .union(CapabilitySet::SETFCAP)
        .union(CapabilitySet::SYSLOG)
        .union(CapabilitySet::SYS_ADMIN)
        .union(CapabilitySet::SYS_BOOT)
        .union(CapabilitySet::SYS_MODULE)
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

/// Which calls fail, with "operation not permitted".
fn filter(network: bool) -> Result<BpfProgram, Box<dyn Error>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let argument = |number, op, value: u32| {
        SeccompCondition::new(number, SeccompCmpArgLen::Dword, op, u64::from(value)).map(|it| vec![it])
    };
    // Typing for the user, into any terminal as root.
    let typing = [libc::TIOCSTI as u32, libc::TIOCLINUX as u32]
        .map(|request| argument(1, SeccompCmpOp::Eq, request).and_then(SeccompRule::new));
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    if !network {
        // Unix sockets, and what the system tells about its interfaces.
        let mut other = argument(0, SeccompCmpOp::Ne, libc::AF_UNIX as u32)?;
        other.extend(argument(0, SeccompCmpOp::Ne, libc::AF_NETLINK as u32)?);
        rules.insert(libc::SYS_socket, vec![SeccompRule::new(other)?]);
        // It makes sockets past any filter.
        rules.insert(libc::SYS_io_uring_setup, Vec::new());
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()?;
    Ok(if arch == TargetArch::x86_64 { without_x32(program) } else { program })
}

/// Puts before a filter that the calls of the x32 ABI, which have numbers of their own, are not there.
fn without_x32(program: BpfProgram) -> BpfProgram {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    const X32: u32 = 0x4000_0000;
    let not_there = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    let before = [
        // The call's number is the first thing in what a filter is given.
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: AT_LEAST, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: not_there },
    ];
    before.into_iter().chain(program).collect()
}

/// Calls that no work in a project needs, and that lead out of a sandbox, change the machine, or have led out by their faults.
const DENIED: &[i64] = &[
    // The machine's file systems. Landlock forbids them too, from its first version on.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    // Files by number, past all paths.
    libc::SYS_open_by_handle_at,
    // The kernel itself.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_acct,
    // Keys that the kernel keeps for the user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine's time and name.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];
