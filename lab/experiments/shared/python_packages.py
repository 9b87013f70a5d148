"""Python packages of experiments: isotherm's own, as built, and those that bootstrap fetched."""
import os
import pathlib

import tree

CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache'))
FETCHED = CACHE / 'isotherm/python'
OURS = tree.PROGRAMS.parent / 'python'
