#!/usr/bin/env python3
"""Pictures of the plugin in a real terminal: runs Neovim in a pseudo-terminal, plays a scene, and renders the screen.

    AZIMUTH_SERVER=... NVIM=... python3 screenshot.py OUT_FOLDER [SCENE ...]

It needs the Python packages `pexpect` and `pyte`, and a chromium in PATH or by CHROMIUM. A scene is a name of `scenes.lua`;
without one, all are played. Each is drawn dark and light, at 80 and at 160 columns, or as its name says: `answer-dark-80`.
"""

import html
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pexpect
import pyte

HERE = pathlib.Path(__file__).resolve().parent
NVIM = os.environ.get("NVIM", "nvim")
SCENES = ["overview", "live", "undo", "undone", "answer", "tools", "permission", "form", "fallback", "beginnings", "answered", "shell", "jobs", "ran", "bypass", "rules", "costs", "trust", "picker", "suggestion", "next_edit", "change", "changing", "completion"]
SIZES = [(80, 30), (160, 45)]
# The cell of a character of DejaVu Sans Mono at 15 pixels: as high as its own box, so that lines drawn of characters join.
CELL = (9.03, 17)


class Screen(pyte.Screen):
    """A screen that passes over what pyte does not know."""

    answer = None

    def report_device_status(self, mode=0, **kwargs):
        if mode == 5 and self.answer:
            self.answer(b"\x1b[0n")

    def set_margins(self, *args, **kwargs):
        kwargs.pop("private", None)
        super().set_margins(*args, **kwargs)

    def select_graphic_rendition(self, *args, **kwargs):
        if not kwargs.pop("private", False):
            super().select_graphic_rendition(*args)


def play(scene, background, size, folder):
    columns, rows = size
    screen = Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    home = tempfile.mkdtemp(prefix="azimuth-shot-")
    done = pathlib.Path(home, "done")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "TMPDIR": home,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "AZIMUTH_SERVER": os.environ["AZIMUTH_SERVER"],
        "AZIMUTH_SCENE": scene,
        "AZIMUTH_SCENE_DONE": str(done),
    }
    command = ["--clean", "-c", f"set background={background}", "-c", f"luafile {HERE / 'scenes.lua'}"]
    child = pexpect.spawn(NVIM, command, dimensions=(rows, columns), env=environment, cwd=home, timeout=1)
    screen.answer = child.send
    deadline = time.monotonic() + 30
    quiet_since = None
    while time.monotonic() < deadline:
        try:
            stream.feed(child.read_nonblocking(65536, timeout=0.1))
            quiet_since = None
        except pexpect.TIMEOUT:
            quiet_since = quiet_since or time.monotonic()
        except pexpect.EOF:
            break
        if done.exists() and quiet_since and time.monotonic() - quiet_since > 0.3:
            break
    else:
        sys.exit(f"{scene}-{background}-{columns}: the scene did not end in time; the screen is:\n" + "\n".join(screen.display))
    if not done.exists():
        sys.exit(f"{scene}-{background}-{columns}: Neovim ended before the scene did; the screen is:\n" + "\n".join(screen.display))
    child.close(force=True)
    shutil.rmtree(home, ignore_errors=True)
    name = f"{scene}-{background}-{columns}"
    picture(screen, background, folder / f"{name}.png")
    return name


def colour(value, fallback):
    named = {"black": "#000", "red": "#c33", "green": "#3a3", "brown": "#a80", "blue": "#36c", "magenta": "#a3a", "cyan": "#3aa", "white": "#ccc"}
    return fallback if value == "default" else named.get(value, f"#{value}")


def picture(screen, background, path):
    paper, ink = ("#14161b", "#e0e2ea") if background == "dark" else ("#e0e2ea", "#14161b")
    behind, before = [], []
    for row in range(screen.lines):
        fills, cells = [], []
        for column in range(screen.columns):
            cell = screen.buffer[row][column]
            if cell.data == "":
                continue
            front, back = colour(cell.fg, ink), colour(cell.bg, paper)
            if cell.reverse or (row, column) == (screen.cursor.y, screen.cursor.x):
                front, back = back, front
            style = f"color:{front}"
            style += ";font-weight:bold" if cell.bold else ""
            style += ";font-style:italic" if cell.italics else ""
            style += ";text-decoration:underline" if cell.underscore else ""
            character = html.escape(cell.data)
            cells.append(f'<span style="{style}">{character}</span>')
            fills.append(f'<span style="background:{back}">{character}</span>')
        behind.append("".join(fills))
        before.append("".join(cells))
    # All backgrounds lie below all characters: that of the next line would hide what reaches below a line, such as "_".
    page = (
        f'<meta charset="utf-8"><style>body{{margin:0;background:{paper}}}'
        f"pre{{margin:0;position:absolute;top:0;left:0;font:15px/{CELL[1]}px DejaVu Sans Mono,monospace}}"
        ".behind{color:transparent}</style>"
        '<pre class="behind">' + "\n".join(behind) + "</pre><pre>" + "\n".join(before) + "</pre>"
    )
    with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False) as file:
        file.write(page)
    width, height = math.ceil(screen.columns * CELL[0]), screen.lines * CELL[1]
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or "google-chrome"
    subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={path}", f"--window-size={width},{height}", file.name],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    os.unlink(file.name)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for wanted in sys.argv[2:] or SCENES:
        for background in ("dark", "light"):
            for size in SIZES:
                scene = wanted.split("-")[0]
                if wanted in (scene, f"{scene}-{background}-{size[0]}"):
                    print(play(scene, background, size, folder))


if __name__ == "__main__":
    main()
