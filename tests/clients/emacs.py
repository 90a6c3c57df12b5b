"""Emacs with Eglot, as a person uses it: by its keys alone."""

import time

from terminal import Terminal

SETTINGS = r"""
(setq make-backup-files nil auto-save-default nil create-lockfiles nil inhibit-startup-screen t
      native-comp-async-report-warnings-errors nil initial-scratch-message nil)

(require 'eglot)
(add-to-list 'eglot-server-programs '((text-mode python-mode) . ("azimuth" "lsp")))
(add-to-list 'auto-mode-alist '("azimuth-chat\\.md\\'" . text-mode))
(add-hook 'text-mode-hook #'eglot-ensure)
(add-hook 'python-mode-hook #'eglot-ensure)
(setq eglot-confirm-server-initiated-edits nil
      eglot-confirm-server-edits nil)
(define-key eglot-mode-map (kbd "C-c a") #'eglot-code-actions)

(defun azimuth-chat ()
  "Show the project's chat."
  (interactive)
  (let ((folder (project-root (project-current t))))
    (jsonrpc-request (eglot-current-server) :workspace/executeCommand
                     '(:command "azimuth.chat.open" :arguments []))
    (find-file (expand-file-name ".azimuth/chats/azimuth-chat.md" folder))))
(define-key eglot-mode-map (kbd "C-c z") #'azimuth-chat)

;; For the test: how often the chat was written to by the server.
(defvar test-edits 0)
(advice-add 'eglot--apply-text-edits :before
            (lambda (&rest _) (when (string-match-p "azimuth-chat" (buffer-name)) (setq test-edits (1+ test-edits)))))
(global-set-key (kbd "C-c e") (lambda () (interactive) (message "edits of the chat: %d" test-edits)))
"""


class Emacs:
    name = "Emacs with Eglot"
    # The answer comes in one edit where the turn ends, or asks.
    one_edit_a_turn = True

    def __init__(self, world, program):
        settings = world.home / "init.el"
        settings.write_text(SETTINGS)
        self._terminal = Terminal([program, "-nw", "-q", "-l", str(settings)], world.env, world.project)
        self.text = self._terminal.text
        self.until = self._terminal.until
        self.until("Emacs", "*scratch*")

    def open(self, path):
        self._terminal.press("\x18\x06", path, "enter")
        self.until("the server is connected", lambda text: f"{path} " in text and "[eglot:" in text)

    def open_chat(self):
        self._terminal.press("\x03z")
        self.until("the chat", lambda text: "azimuth-chat.md " in text and "[eglot:" in text)

    def back_to(self, path):
        self._terminal.press("\x18b", path, "enter")
        self.until(path, f"{path} ")

    def back_to_chat(self):
        self.back_to("azimuth-chat.md")

    def type_first(self, line):
        self._terminal.press("\x1b<", line, "enter")
        # Eglot tells the server what was typed after half a second of rest.
        time.sleep(0.8)

    def type_last(self, text):
        self._terminal.press("\x1b>", text, "enter")

    def go_to(self, line):
        self._terminal.press("\x1bgg", str(line), "enter")

    def choose(self, title):
        """Asks for the code actions, and completes the title. What is not offered yet is asked for again."""
        for _ in range(10):
            self._terminal.press("\x03a")
            if self.until("code actions", lambda text: _one_of(_echo(text), "Pick an action", "No code actions")) \
                    == "Pick an action":
                # A blank by itself would complete a word.
                self._terminal.press(title.replace(" ", "\x11 "), "tab")
                shown = self.until("a completion", lambda text: _after(_echo(text), "): "))
                time.sleep(0.1)
                if "[No match]" not in _echo(self.text()):
                    self._terminal.press("enter")
                    self.until(f"{title} is chosen", lambda text: "Pick an action" not in _echo(text))
                    return
                self._quit_what_it_asks()
            time.sleep(0.3)
        raise AssertionError(f"{title} is not offered: {shown}")

    def edits_of_the_chat(self):
        self._terminal.press("\x03e")
        return int(self.until("the count", lambda text: _after(_echo(text), "edits of the chat: ")))

    def shows_change(self, text):
        """Eglot shows a hint by a mark in the text; the mode line counts those of Flymake."""
        return "Flymake[0 2]" in text or "Flymake[2" in text or "Flymake[0 0 2]" in text

    def undo(self):
        self._terminal.press("\x1f")

    def redo(self):
        self._quit_what_it_asks()
        self._terminal.press("\x1f")

    def _quit_what_it_asks(self):
        """Emacs throws away what was typed before it sees this key, so the next one waits."""
        self._terminal.press("\x07")
        self.until("Quit", lambda text: "Quit" in _echo(text))

    def save(self):
        self._terminal.press("\x18\x13")

    def read_anew(self):
        self._terminal.press("\x1bx", "revert-buffer", "enter")
        self.until("the question", lambda text: "yes or no" in _echo(text))
        self._terminal.press("yes", "enter")

    def quit(self):
        self._terminal.press("\x18\x03")

    def close(self):
        self._terminal.close()


def _echo(text):
    """What stands below the last mode line. A line that is too long is broken with a backslash."""
    lines = text.splitlines()
    mode_line = max((at for at, line in enumerate(lines) if line.startswith("-U")), default=0)
    return "".join(line.removesuffix("\\") for line in lines[mode_line + 1:])


def _one_of(text, *words):
    return next((word for word in words if word in text), None)


def _after(text, start):
    return text.split(start, 1)[1] if start in text else None
