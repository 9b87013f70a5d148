"""The one exception of the package."""


class Error(Exception):
    """A sort cannot go on: one line that says what to do, as `isotherm sort` prints it.

    An option that the line calls --key-size is the argument key_size, and so on.
    """

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code
        """An errno value (errno.ENOENT, errno.EINTR, ...), or 0."""
