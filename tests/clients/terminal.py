"""A program in a pseudo-terminal: keys go in, and what a person would see comes out."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte

# The chat of a whole story fits.
COLUMNS, ROWS = 140, 110
PATIENCE = 20

KEYS = {"space": " ", "esc": "\x1b", "enter": "\r", "tab": "\t", "down": "\x1b[B", "up": "\x1b[A"}


class _Screen(pyte.Screen):
    """Helix asks the terminal in ways that pyte does not know."""

    def report_device_status(self, *_, **__):
        pass


class Terminal:
    def __init__(self, command, env, cwd):
        self._screen = _Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, {**env, "TERM": "xterm-256color"})
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def text(self):
        """What the screen shows now."""
        self._read(0)
        return "\n".join(line.rstrip() for line in self._screen.display)

    def press(self, *keys):
        """Presses keys by name, or types the text."""
        for key in keys:
            os.write(self._fd, KEYS.get(key, key).encode())
            # An editor tells the escape key from a sequence by what follows at once.
            self._read(0.05 if key != "esc" else 0.15)

    def until(self, what, wish, seconds=PATIENCE):
        """Waits until the screen shows what is wished for: a text, or what a function finds in it."""
        finds = wish if callable(wish) else lambda text: wish in text
        end = time.monotonic() + seconds
        while not (found := finds(self.text())):
            if time.monotonic() > end:
                raise AssertionError(f"{what}: it did not show within {seconds} s:\n{self.text()}")
            self._read(0.05)
        return found

    def close(self):
        """Ends the program, if it has not ended. The editor's servers see its end and end too."""
        try:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self._fd)

    def _read(self, seconds):
        end = time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([self._fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                return
            try:
                self._stream.feed(os.read(self._fd, 65536))
            except OSError:  # the program has ended
                return
