//! The TCP ports that processes listen on, by what the kernel says (`/proc`); none elsewhere than on Linux.

#![expect(clippy::disallowed_methods, reason = "/proc is no project file")]

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// The state of a socket that listens, in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// The ports that these processes listen on, sorted. Blocks shortly.
pub(crate) fn listening(processes: &[i32]) -> Vec<u16> {
    let sockets: HashSet<u64> = processes.iter().flat_map(|pid| sockets(*pid)).collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    // They may be in a network of their own.
    let tables =
        processes.iter().take(1).flat_map(|pid| ["tcp", "tcp6"].map(|table| format!("/proc/{pid}/net/{table}")));
    let ports: BTreeSet<u16> = tables
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .flat_map(|table| ports(&table, &sockets))
        .collect();
    ports.into_iter().collect()
}

/// The sockets of a process, by their inodes.
fn sockets(pid: i32) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")) else {
        return Vec::new();
    };
    let targets = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    targets.filter_map(|target| target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()).collect()
}

/// The ports in a table of the kernel's that one of these sockets listens on.
fn ports(table: &str, sockets: &HashSet<u64>) -> Vec<u16> {
    let port = |line: &str| {
        // sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, _, LISTENS, _, _, _, _, _, inode, ..] = columns.as_slice() else { return None };
        if !sockets.contains(&inode.parse().ok()?) {
            return None;
        }
        u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()
    };
    table.lines().skip(1).filter_map(port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_of_ours_that_listen_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 101 1 0\n   \
                     1: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 102 1 0\n   \
                     2: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 103 1 0\n";
        assert_eq!(ports(table, &HashSet::from([101, 103])), [8080]);
        assert!(ports("", &HashSet::from([101])).is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_that_this_process_listens_on_is_found_and_only_while_it_does() {
        let ours = i32::try_from(std::process::id()).unwrap();
        let [old, new] = ["127.0.0.1:0", "[::1]:0"].map(|address| std::net::TcpListener::bind(address).ok());
        let port =
            |listener: &Option<std::net::TcpListener>| listener.as_ref().map(|it| it.local_addr().unwrap().port());
        let (expected, gone) = (port(&old).unwrap(), port(&new));
        let found = listening(&[ours]);
        assert!(found.contains(&expected) && gone.is_none_or(|gone| found.contains(&gone)), "{found:?}");
        drop(old);
        assert!(!listening(&[ours]).contains(&expected));
    }
}
