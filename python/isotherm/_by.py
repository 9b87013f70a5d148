"""Which columns or fields are keys."""

from __future__ import annotations

from collections.abc import Collection, Sequence

By = str | Sequence[str | tuple[str, str]]
"""A name, or several, the first of which weighs most; a pair ('name', 'descending') turns one."""

_DIRECTIONS = {'ascending': False, 'descending': True}


def keys_of(by: By, names: Collection[str]) -> list[tuple[str, bool]]:
    """Returns each key's name, one of `names`, and whether it is descending."""
    keys = []
    for each in [by] if isinstance(by, str) else by:
        name, direction = (each, 'ascending') if isinstance(each, str) else each
        if name not in names:
            raise KeyError(f"there is no '{name}': there are {', '.join(names) or 'no names'}")
        if direction not in _DIRECTIONS:
            raise ValueError(f"'{direction}' is neither ascending nor descending")
        keys.append((name, _DIRECTIONS[direction]))
    if not keys:
        raise ValueError('by: name at least one key')
    return keys
