//! The system calls that a sandbox refuses. Landlock looks at files, signals and abstract sockets; what else acts on
//! something outside is known by the call and its arguments.

use std::collections::BTreeMap;
use std::error::Error;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

/// Builds the filter of calls that fail: with "operation not permitted", and some as if the kernel did not know them.
pub(super) fn filter(network: bool) -> Result<BpfProgram, Box<dyn Error>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    // Typing for the user, into any terminal as root.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| when(&[is(1, request as u32)]));
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);

    // The calls that act on the process that the first argument names, or on the caller itself if that is 0. An id is
    // refused also if it is the caller's own, since a filter does not know it.
    for call in OF_A_PROCESS {
        rules.insert(*call, vec![when(&[is_not(0, 0)])?]);
    }
    // The calls that act on the process, group or user that the first argument tells apart and the second one names.
    for (call, process) in [(libc::SYS_setpriority, PRIO_PROCESS), (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS)] {
        rules.insert(call, vec![when(&[is_not(0, process)])?, when(&[is_not(1, 0)])?]);
    }

    // Sockets of other kinds reach what no project needs, such as the host of a virtual machine.
    let known = if network { SOCKETS } else { LOCAL_SOCKETS };
    let others: Vec<_> = known.iter().map(|family| is_not(0, family.cast_unsigned())).collect();
    rules.insert(libc::SYS_socket, vec![when(&others)?]);

    // A program that runs as whoever owns it would let other users of the machine do that. Root could also give it any
    // group.
    let mut gains = vec![libc::S_ISUID];
    if rustix::process::geteuid().is_root() {
        gains.push(libc::S_ISGID);
    }
    for (call, mode, flags) in MODES {
        for bit in &gains {
            let gains = has(*mode, *bit);
            let conditions: Vec<Vec<Check>> = match flags {
                // Without these there is no mode, and its place may hold anything.
                Some(flags) => [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY]
                    .map(|making| vec![gains.clone(), has(*flags, making.cast_unsigned())])
                    .into(),
                None => vec![vec![gains]],
            };
            for conditions in conditions {
                rules.entry(*call).or_default().push(when(&conditions)?);
            }
        }
    }

    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()?;
    Ok(without(program, arch))
}

/// A comparison of an argument's lower half: its number, how, and with what.
type Check = (u8, SeccompCmpOp, u32);

fn is(argument: u8, value: u32) -> Check {
    (argument, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u32) -> Check {
    (argument, SeccompCmpOp::Ne, value)
}

fn has(argument: u8, bits: u32) -> Check {
    (argument, SeccompCmpOp::MaskedEq(bits.into()), bits)
}

/// Where all of these are so.
fn when(checks: &[Check]) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = checks
        .iter()
        .map(|(argument, op, value)| {
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, op.clone(), u64::from(*value))
        })
        .collect::<Result<_, _>>()?;
    SeccompRule::new(conditions)
}

/// Puts before a filter that some calls are not there: those of the x32 ABI, which have numbers of their own, and
/// `openat2`, whose flags and mode no filter can see; programs that know it go on without it. So they do where a file
/// system has no attributes, so [`ATTRIBUTES`] are answered like that.
fn without(program: BpfProgram, arch: TargetArch) -> BpfProgram {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    const X32: u32 = 0x4000_0000;
    let not_there = sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32 };
    let not_supported = sock_filter { k: libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP as u32, ..not_there.clone() };
    let refuse = |code, k| [sock_filter { code, jt: 0, jf: 1, k }, not_there.clone()];
    // The call's number is the first thing in what a filter is given.
    let mut before = vec![sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 }];
    before.extend(refuse(EQUAL, libc::SYS_openat2 as u32));
    let lacks = |call: &i64| [sock_filter { code: EQUAL, jt: 0, jf: 1, k: *call as u32 }, not_supported.clone()];
    before.extend(ATTRIBUTES.iter().flat_map(lacks));
    if arch == TargetArch::x86_64 {
        before.extend(refuse(AT_LEAST, X32));
    }
    before.into_iter().chain(program).collect()
}

/// A single process, for `setpriority`.
const PRIO_PROCESS: u32 = 0;

/// The same for `ioprio_set`, which the C library has no header for.
const IOPRIO_WHO_PROCESS: u32 = 1;

/// The kinds of sockets that are there with the network, and without it: those of this machine's processes, and what
/// the system tells about its interfaces.
const SOCKETS: &[i32] = &[libc::AF_UNIX, libc::AF_NETLINK, libc::AF_INET, libc::AF_INET6];
const LOCAL_SOCKETS: &[i32] = &[libc::AF_UNIX, libc::AF_NETLINK];

/// Calls whose first argument is the process that they act on.
const OF_A_PROCESS: &[i64] = &[
    // Its limits: one that may open no files, or use no time, is as good as ended.
    libc::SYS_prlimit64,
    // When and where it runs.
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    // Where its memory lies.
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Calls that give a file its mode: the number of that argument, and of the one with the flags of an opening.
const MODES: &[(i64, u8, Option<u8>)] = &[
    (libc::SYS_fchmod, 1, None),
    (libc::SYS_fchmodat, 2, None),
    (libc::SYS_fchmodat2, 2, None),
    (libc::SYS_openat, 3, Some(2)),
    (libc::SYS_mknodat, 2, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2, Some(1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1, None),
];

/// Calls that change the attributes of a file by its path, wherever it lies: Landlock does not look at that. The
/// numbers are those of `setxattrat`, `removexattrat` and `file_setattr`, which the C library's crate does not name, on
/// all processors.
const ATTRIBUTES: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    463,
    466,
    469,
];

/// `open_tree_attr`, since Linux 6.15, which the C library's crate does not name. It has one number on all processors.
const OPEN_TREE_ATTR: i64 = 467;

/// Calls that no work in a project needs, and that lead out of a sandbox, change the machine, or have led out by their
/// faults.
const DENIED: &[i64] = &[
    // The machine's file systems. Landlock forbids them too, from its first version on.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
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
    // All that happens in a file system, whoever may read it. What is watched by path alone (inotify) stays.
    libc::SYS_fanotify_init,
    // Other processes: what they have open and hold in memory. Landlock forbids most of it too.
    libc::SYS_pidfd_getfd,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    // Objects of a user's processes, shared by number or a name that is no path: whoever has it, Landlock does not ask.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // It opens files and makes sockets past any filter.
    libc::SYS_io_uring_setup,
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
