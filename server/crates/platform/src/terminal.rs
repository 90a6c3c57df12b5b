//! The echo of a terminal, which shows what is typed.
//!
//! Elsewhere than on Unix it cannot be switched off, as [`Hidden::input`] says.

use std::io;

/// While this lives, the terminal of standard input does not show what is typed. Its settings come back with the drop.
#[derive(Debug)]
pub struct Hidden(#[expect(dead_code, reason = "it acts when it is dropped")] system::Hidden);

impl Hidden {
    /// Hides what is typed from now on.
    ///
    /// # Errors
    /// Standard input is no terminal, or the system cannot hide anything.
    pub fn input() -> io::Result<Self> {
        system::Hidden::input().map(Self)
    }
}

#[cfg(unix)]
mod system {
    use std::io;

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    #[derive(Debug)]
    pub(super) struct Hidden {
        before: Termios,
    }

    impl Hidden {
        pub(super) fn input() -> io::Result<Self> {
            let before = tcgetattr(rustix::stdio::stdin())?;
            let mut hidden = before.clone();
            hidden.local_modes.remove(LocalModes::ECHO);
            // The end of the line still moves the cursor, so that the user sees that it was taken.
            hidden.local_modes.insert(LocalModes::ECHONL);
            tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &hidden)?;
            Ok(Self { before })
        }
    }

    impl Drop for Hidden {
        fn drop(&mut self) {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    #[derive(Debug)]
    pub(super) struct Hidden;

    impl Hidden {
        pub(super) fn input() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}
