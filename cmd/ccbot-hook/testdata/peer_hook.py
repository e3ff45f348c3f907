# What a hook in Python that tracks tmux windows cannot do without: start the
# interpreter, read the payload, ask tmux for the window, change a file of all
# windows under a lock. usage: peer_hook.py FOLDER (needs TMUX and TMUX_PANE)
import argparse
import fcntl
import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    payload = json.load(sys.stdin)
    session = payload["session_id"]
    if not re.fullmatch(r"[0-9a-f-]{36}", session) or not os.environ.get("TMUX"):
        sys.exit("not what it is for")
    window = subprocess.run(
        ["tmux", "display-message", "-t", os.environ["TMUX_PANE"], "-p", "#{session_name}:#{window_id}"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()
    with open(folder / "map.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = folder / "map.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        known[window] = {"session_id": session, "cwd": payload.get("cwd", "")}
        fresh = folder / ".map.json"
        fresh.write_text(json.dumps(known, indent=2))
        os.replace(fresh, path)


main()
