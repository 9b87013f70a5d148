"""Tiny runs of experiments, which the tests make. The figures mean nothing at these sizes."""
import dataclasses

SAVED = ['--save', 'saved.jsonl']


@dataclasses.dataclass(frozen=True)
class Trial:
    """Calls of an experiment's run.py with these words, one after the other in an empty folder."""
    calls: list
    rows: int                    # lines that they save at least
    files: dict = dataclasses.field(default_factory=dict)  # name -> bytes that lie in the folder
    is_nightly: bool = False
    needs_programs: bool = False  # of lab/micro and lab/policies
    may_lack: bool = False       # root, a control group or FUSE, which not every machine gives
    timeout: int = 600           # seconds for a call, so many that no busy machine needs them
