"""Helix, as a person uses it: by its keys alone."""

import time

from terminal import Terminal

LANGUAGES = """
[language-server.azimuth]
command = "azimuth"
args = ["lsp"]

[[language]]
name = "markdown"
language-servers = ["azimuth"]

[[language]]
name = "python"
language-servers = ["azimuth"]
"""

SETTINGS = """
[editor.lsp]
display-progress-messages = true
"""


class Helix:
    name = "Helix"
    # It takes the answer as it comes.
    one_edit_a_turn = False

    def __init__(self, world, program):
        world.config("helix/languages.toml", LANGUAGES)
        world.config("helix/config.toml", SETTINGS)
        self._terminal = Terminal([program], world.env, world.project)
        self.text = self._terminal.text
        self.until = self._terminal.until
        self.until("Helix", "NOR")

    def open(self, path):
        self._command(f"open {path}")
        self.until(path, lambda text: path in _status(text))

    def open_chat(self):
        # The server may still be starting; then Helix does not know its commands.
        self._again(lambda: self._command("lsp-workspace-command azimuth.chat.open"),
                    "the chat", lambda text: "azimuth-chat.md" in _status(text))

    def back_to(self, path):
        self.open(path)

    def back_to_chat(self):
        self.open(".azimuth/chats/azimuth-chat.md")

    def type_first(self, line):
        self._terminal.press("g", "g", "O", line, "esc")

    def type_last(self, text):
        self._terminal.press("g", "e", "o", text, "esc")

    def go_to(self, line):
        self._terminal.press(f"{line}G")

    def choose(self, title):
        """Opens the menu of code actions, and goes down to the one."""
        row = self._again(lambda: self._terminal.press("esc", "space", "a"), title, lambda text: _menu_row(text, title))
        self._terminal.press(*["down"] * (row - 1), "enter")

    def shows_change(self, text):
        return ("two = 2" in text and "Azimuth proposes" in text) or ("b = 2" in text and "Changed by" in text)

    def undo(self):
        self._terminal.press("u")

    def redo(self):
        self._terminal.press("U")

    def save(self):
        self._command("write")

    def read_anew(self):
        self._command("reload")

    def quit(self):
        self._command("quit-all!")

    def close(self):
        self._terminal.close()

    def _command(self, line):
        self._terminal.press("esc", ":", line, "enter")

    def _again(self, do, what, wish, tries=8):
        for _ in range(tries):
            do()
            try:
                return self.until(what, wish, 1.5)
            except AssertionError as error:
                last = error
                time.sleep(0.1)
        raise last


def _status(text):
    """The status line: the last but one that is not empty, or the last."""
    return "\n".join(text.splitlines()[-2:])


# What the menu of code actions offers, in order.
_OFFERS = ("Trust this", "Not now", "Do not trust", "Allow once", "Always allow", "Save them", "Run without", "Reject", "Accept", "Keep",
           "Take", "Say this", "Send to Azimuth", "Cancel what", "Change this")


def _menu_row(text, title):
    """The row of an action in the menu, from 1: actions stand one below the other from the same column on."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        column = line.rfind(title)
        # Only the menu has two blanks, or a text of the buffer that it covers, before a title that ends its line.
        if column < 8 or not _offers(line, column):
            continue
        first = at
        while first > 0 and _offers(lines[first - 1], column):
            first -= 1
        return at - first + 1
    return None


def _offers(line, column):
    return line[:column].endswith(" ") and line[column:].startswith(_OFFERS)
