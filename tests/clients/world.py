"""A machine of its own for a story: a home, a project, a model, and the server in the editor's path."""

import os
import pathlib
import subprocess
import tempfile
import time

from model import ModelServer, calls, says

FILE = "numbers.py"
ON_DISK = "one = 1\ntwo = 2\nthree = 3\nfour = 4\nfive = 5\n"
UNSAVED = "# mine"
# Two hunks: between them stands a line that stays.
OLD = "two = 2\nthree = 3\nfour = 4\n"
NEW = "two = 22\nthree = 3\nfour = 44\n"
COMMAND = "touch made.txt"
ANSWER = "I changed two numbers."
PROMPT = f"Double the digits in @{FILE}"

NEW_FILE = "more.py"
NEW_TEXT = "six = 6\n"

# A file that a command changes in two places.
TABLE = "table.py"
TABLE_BEFORE = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"
TABLE_AFTER = TABLE_BEFORE.replace("a =", "a :").replace("e =", "e :")
TABLE_COMMAND = f"sed -i -e 1s/=/:/ -e 5s/=/:/ {TABLE}"
TABLE_PROMPT = "Make it a table"

# A file with an instruction in a comment.
CHANGED = "change.py"
INSTRUCTION = "double it"
CHANGED_BEFORE = f"# azimuth: {INSTRUCTION}\nfive = 5\n"
CHANGED_AFTER = "five = 10\n"

SCRIPT = [
    calls("shell_run", command=COMMAND),
    calls("edit_create_file", path=NEW_FILE, content=NEW_TEXT),
    calls("edit_replace_exact", path=FILE, old_text=OLD, new_text=NEW),
    says(ANSWER),
    calls("shell_run", command=TABLE_COMMAND),
    says("It is a table."),
    calls("edit_replace_exact", path=CHANGED, old_text=CHANGED_BEFORE, new_text=CHANGED_AFTER),
    says("It is doubled."),
]

# The buffer after the first hunk was accepted and the second rejected.
EXPECTED = f"{UNSAVED}\n{ON_DISK.replace('two = 2', 'two = 22')}"


class World:
    def __init__(self, server):
        self._folder = tempfile.TemporaryDirectory(prefix="azimuth-clients-")
        root = pathlib.Path(self._folder.name)
        self.home = root / "home"
        self.project = root / "project"
        self.model = ModelServer(SCRIPT)
        self.project.mkdir()
        (self.project / FILE).write_text(ON_DISK)
        (self.project / TABLE).write_text(TABLE_BEFORE)
        (self.project / CHANGED).write_text(CHANGED_BEFORE)
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.config("azimuth/config.toml", f"""
            model = "test/model-1"
            [providers.test]
            base_url = "{self.model.url}"
            key = "k"
            wire = "openai-chat"
            models = ["model-1"]
        """)
        bin_dir = root / "bin"
        bin_dir.mkdir()
        (bin_dir / "azimuth").symlink_to(server)
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
        self.env = {
            "LANG": "C.UTF-8", **kept,
            "PATH": f"{bin_dir}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
        }

    def config(self, path, text):
        """Writes a file below the home's `.config`."""
        file = self.home / ".config" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(line.strip() for line in text.strip().splitlines()) + "\n")

    def log(self):
        files = sorted((self.home / ".local/share").rglob("*.log"))
        return "\n".join(file.read_text() for file in files)

    def read(self, path):
        return (self.project / path).read_text()

    def saved(self, path, wish, seconds=10):
        """The text of a file, once it is as wished."""
        end = time.monotonic() + seconds
        while not wish(text := self.read(path) if (self.project / path).exists() else ""):
            assert time.monotonic() < end, f"{path} was not saved as expected:\n{text}"
            time.sleep(0.02)
        return text

    def gone(self, path, seconds=10):
        """Waits until a file is there no more."""
        end = time.monotonic() + seconds
        while (self.project / path).exists():
            assert time.monotonic() < end, f"{path} is still there"
            time.sleep(0.02)

    def close(self):
        self.model.close()
        self._folder.cleanup()
