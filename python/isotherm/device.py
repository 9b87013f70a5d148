"""Measures a storage device."""

from __future__ import annotations

import json
import os

from . import _native
from ._options import Path, Progress


def probe(directory: Path, *, emulated: str = '', file_bytes: int = 256 << 20,
          sample_seconds: float = 0.1, progress: Progress | None = None) -> dict[str, object]:
    """Measures the device under `directory`, which needs twice `file_bytes` of free space.

    Returns the profile of `isotherm device probe`; as a JSON file it is what the option `device` of
    sort_file() takes. `emulated` ('emu:pmem@1/8') measures an emulated device over the directory.
    An interrupt ends the probe when it has measured all.
    """
    return json.loads(_native.probe(os.fsdecode(directory), emulated, file_bytes, sample_seconds,
                                    progress))
