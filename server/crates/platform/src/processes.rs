//! Other processes of this machine.

/// True if there surely is no process with this number. Elsewhere than on Linux nobody is asked, so it never is.
pub fn is_gone(number: u32) -> bool {
    let all = std::path::Path::new("/proc");
    cfg!(target_os = "linux") && all.join("self").exists() && !all.join(number.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_there_and_one_with_no_possible_number_is_gone() {
        assert!(!is_gone(std::process::id()));
        // The kernel gives none above 2^22.
        assert_eq!(is_gone(1 << 30), cfg!(target_os = "linux"));
    }
}
