"""Files that sorts read and write."""
import hashlib
import os
import pathlib


def forget(path):
    """Drops a file, whose bytes are on the disk, from the page cache."""
    handle = os.open(path, os.O_RDONLY)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def touch_memory(directory, megabytes):
    """Writes page cache and gives it up, so that the next run gets memory that the host of a
    virtual machine has given to it already, whatever ran before."""
    path = pathlib.Path(directory) / f'touched.{os.getpid()}'
    block = bytes(1_000_000)
    with open(path, 'wb') as file:
        path.unlink()
        for _ in range(megabytes):
            file.write(block)


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()
