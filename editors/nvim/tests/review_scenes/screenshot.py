#!/usr/bin/env python3
"""Pictures of review and terminal, as `../screenshot.py` makes them of the chat.

    AZIMUTH_SERVER=... NVIM=... python3 screenshot.py OUT_FOLDER [SCENE ...]
"""

import importlib.util
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("chat_screenshot", HERE.parent / "screenshot.py")
chat = importlib.util.module_from_spec(spec)
spec.loader.exec_module(chat)

chat.HERE = HERE
chat.SCENES = ["inline", "conflict", "landed", "beside", "diff", "quickfix", "new", "terminal"]
chat.main()
