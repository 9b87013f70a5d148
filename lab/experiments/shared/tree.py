"""The source tree, and the programs that its release build makes."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / 'build/release/bin'
TOOL = str(PROGRAMS / 'isotherm')
STATUS_LACKING = 77  # as programs say it to test runners that their test was left out
