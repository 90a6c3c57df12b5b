"""One story in an editor that has nothing of ours but its language server: a prompt in a chat document, its answer there,
a command allowed, a new file accepted, one hunk accepted and another rejected, all by code actions; then all of it taken
back and put again, by `/undo` and `/redo`; what a command changed kept, or taken back; and a change that a comment asks
for."""

import re
import sys
import time

from emacs import Emacs
from helix import Helix
from world import (ANSWER, CHANGED, CHANGED_AFTER, COMMAND, EXPECTED, FILE, INSTRUCTION, NEW_FILE, NEW_TEXT, ON_DISK, PROMPT, TABLE, TABLE_AFTER, TABLE_COMMAND,
                   TABLE_PROMPT, UNSAVED, World)

CHAT = ".azimuth/chats/azimuth-chat.md"


def story(editor, world):
    editor.open(FILE)
    editor.type_first(UNSAVED)
    editor.open_chat()
    editor.type_last(PROMPT)

    editor.choose("Send to Azimuth")
    editor.until("the question of trust", "Trust this folder?")
    assert not world.model.asked, "the model was asked before the folder was trusted"
    # Its title ends with the question, which has the same words.
    editor.choose("Trust this folder (")
    editor.until("the question", lambda text: "Run a command?" in text and COMMAND in text)
    assert not (world.project / "made.txt").exists(), "the command ran before it was allowed"
    # A line break that is meant for the text answers nothing.
    time.sleep(0.5)
    editor.type_last("")
    time.sleep(0.5)
    assert not (world.project / "made.txt").exists(), "a line break has allowed the command"
    editor.choose("Allow once")
    editor.until("the question for the unsaved text", "Save your own changes before the command runs?")
    editor.choose("Run without saving")

    editor.until("the answer", ANSWER)
    editor.until("an invitation to go on", lambda text: text.count("## You") == 2)
    assert (world.project / "made.txt").exists(), "the command did not run"
    assert world.read(FILE) == ON_DISK, "the file on disk was changed before a hunk was accepted"
    asked = str(world.model.asked[0]["messages"])
    assert UNSAVED in asked, f"the model was not given the unsaved text: {asked}"
    if editor.one_edit_a_turn:
        # One each time that the turn asks, and one at its end.
        assert (edits := editor.edits_of_the_chat()) == 4, f"the chat was edited {edits} times"

    # No editor shows a file that is not there yet.
    assert not (world.project / NEW_FILE).exists(), "the new file was made before it was accepted"
    editor.choose(f"Accept the new file {NEW_FILE}")
    world.saved(NEW_FILE, lambda text: text == NEW_TEXT)

    editor.back_to(FILE)
    editor.until("the hints", editor.shows_change)
    editor.go_to(3)
    editor.choose("Accept this change")
    editor.until("the accepted hunk", lambda text: "two = 22" in _buffer(text))
    assert "four = 44" not in _buffer(editor.text()), "the second hunk was not accepted"
    editor.undo()
    editor.until("the undone hunk", lambda text: "two = 22" not in _buffer(text) and UNSAVED in text)
    editor.redo()
    editor.until("the hunk done again", lambda text: "two = 22" in _buffer(text))
    editor.go_to(5)
    editor.choose("Reject this change")
    editor.until("the hints are gone", lambda text: not editor.shows_change(text))

    editor.save()
    world.saved(FILE, lambda text: text == EXPECTED)

    take_back_and_put_again(editor, world)
    keep_and_take_back(editor, world)
    change_this(editor, world)
    editor.quit()
    assert not world.model.wrong, world.model.wrong


def change_this(editor, world):
    """The instruction stands in a comment; what is proposed is accepted as all else is."""
    editor.open(CHANGED)
    editor.choose(f"Change this with Azimuth: {INSTRUCTION}")
    editor.choose("Accept all in file")
    editor.until("the change", lambda text: "five = 10" in _buffer(text) and "# azimuth" not in _buffer(text))
    editor.save()
    world.saved(CHANGED, lambda text: text == CHANGED_AFTER)
    asked = str(world.model.asked[-1]["messages"])
    assert INSTRUCTION in asked, f"the model was not given the instruction: {asked}"


def take_back_and_put_again(editor, world):
    """What the turn did to three files: one is open, one is new, and one was made by its command."""
    editor.back_to_chat()
    editor.type_last("/undo")
    editor.choose("Send to Azimuth")
    editor.until("the undo", lambda text: "Undone: 3 of 3 files" in text and _invites(text))
    world.gone(NEW_FILE)
    world.gone("made.txt")
    assert world.read(FILE) == EXPECTED, "the open file was changed behind the editor's back"
    editor.back_to(FILE)
    editor.until("the text before the turn", lambda text: "two = 22" not in _buffer(text) and UNSAVED in text)
    editor.save()
    world.saved(FILE, lambda text: text == f"{UNSAVED}\n{ON_DISK}")

    editor.back_to_chat()
    editor.type_last("/redo")
    editor.choose("Send to Azimuth")
    editor.until("the redo", lambda text: "Redone: 3 of 3 files" in text and _invites(text))
    world.saved(NEW_FILE, lambda text: text == NEW_TEXT)
    editor.back_to(FILE)
    editor.until("the text after the turn", lambda text: "two = 22" in _buffer(text))
    editor.save()
    world.saved(FILE, lambda text: text == EXPECTED)


def keep_and_take_back(editor, world):
    """What a command changed in an open file, which the editor reads anew."""
    editor.open(TABLE)
    editor.back_to_chat()
    editor.type_last(TABLE_PROMPT)
    editor.choose("Send to Azimuth")
    editor.until("the question", lambda text: TABLE_COMMAND in text)
    editor.choose("Allow once")
    world.saved(TABLE, lambda text: text == TABLE_AFTER)

    editor.back_to(TABLE)
    editor.read_anew()
    editor.until("the hints", editor.shows_change)
    editor.go_to(1)
    editor.choose("Take this change back")
    # A hint may show the line, too, as it would be in a diff.
    editor.until("the line as it was", lambda text: not re.search(r"(?<!\+ )a : 1", text) and "e : 5" in text)
    editor.go_to(5)
    editor.choose("Keep this change")
    editor.until("the hints are gone", lambda text: not editor.shows_change(text))
    editor.save()
    world.saved(TABLE, lambda text: text == TABLE_AFTER.replace("a : 1", "a = 1"))


def _invites(text):
    """Whether the next prompt can be written: the last mark stands below all that was said."""
    return "`made.txt`" in text.rpartition("## You")[0].rpartition("3 of 3 files")[2]


def _buffer(text):
    """The text without what a hint adds at a line's end."""
    return "\n".join(line.split("Azimuth proposes")[0] for line in text.splitlines())


def main(server, *editors):
    """Each editor is a name and its program: `emacs=/usr/bin/emacs`."""
    failed = False
    for name, program in (editor.split("=", 1) for editor in editors):
        client = {"helix": Helix, "emacs": Emacs}[name]
        begin = time.monotonic()
        world = World(server)
        editor = None
        try:
            editor = client(world, program)
            story(editor, world)
            print(f"{client.name}: passed, in {time.monotonic() - begin:.1f} s", flush=True)
        except AssertionError as error:
            failed = True
            print(f"{client.name}: FAILED: {error}", flush=True)
            if editor:
                print(f"The screen:\n{editor.text()}\nThe server's log:\n{world.log()}", flush=True)
        finally:
            if editor:
                editor.close()
            world.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
