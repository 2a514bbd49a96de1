#!/usr/bin/env python3
"""tee.py LOG PROGRAM ARG…: the program, with each line that goes either way in LOG, as an object: from, of (the program's pid), line."""
import json
import os
import subprocess
import sys
import threading


def main():
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def carry(who, lines, to):
        try:
            for line in lines:
                text = line.decode(errors="backslashreplace").removesuffix("\n")
                os.write(log, json.dumps({"from": who, "of": child.pid, "line": text}).encode() + b"\n")
                to.write(line)
                to.flush()
        except OSError:
            pass  # who reads there is gone
        if who == "client":
            child.stdin.close()

    threading.Thread(target=carry, args=("client", sys.stdin.buffer, child.stdin), daemon=True).start()
    carry("server", child.stdout, sys.stdout.buffer)
    os._exit(child.wait())


main()
