"""The source tree, and the programs that its release build makes."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / 'build/release/bin'
TOOL = str(PROGRAMS / 'isotherm')
