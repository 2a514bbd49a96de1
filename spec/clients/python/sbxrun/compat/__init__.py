"""Names, arguments and results of documents about sandboxing, served by sbxrun.

Their examples run after the import line was changed. Which sandbox a document describes (a process with limits, a
container) makes no difference here: it is always a box of sbxrun, with the document's limits.
"""

from __future__ import annotations

from typing import Tuple

from .._errors import SandboxError

# Images that the documents use: the language that they are for.
_IMAGES = {"python": "python", "node": "javascript", "bash": "shell"}


def language_of(image: str) -> Tuple[str, str]:
    """Language and rootfs for the name of an image."""
    name = image.partition(":")[0].rpartition("/")[2]
    if name not in _IMAGES:
        raise SandboxError(
            f"there is no root filesystem for the image {image}: save it as an archive and "
            f"`sbxrun-rootfs import` it, then run with rootfs={name!r}"
        )
    return _IMAGES[name], name


def no_network(wanted: bool) -> None:
    if wanted:
        raise SandboxError(
            "a box of sbxrun has no network but to hosts that are named, and the document names none: "
            "give it what it needs as a file, or sbxrun.run(…, allow=[…])"
        )
